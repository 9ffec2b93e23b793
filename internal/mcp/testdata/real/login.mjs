// A login service on oidc-provider: with registration, client metadata documents, codes for
// devices, and tokens for one resource.
import Provider from 'oidc-provider';

const [port, resource] = process.argv.slice(2);
const issuer = `http://127.0.0.1:${port}`;
const provider = new Provider(issuer, {
  // The provider refuses documents on this machine, where that of the test is.
  fetch: (url, { dispatcher, ...options }) => globalThis.fetch(url, options),
  scopes: ['openid', 'offline_access', 'read'],
  pkce: { required: () => true },
  clientAuthMethods: ['none', 'client_secret_basic', 'client_secret_post'],
  features: {
    devInteractions: { enabled: true },
    registration: { enabled: true, initialAccessToken: false },
    revocation: { enabled: true },
    deviceFlow: { enabled: true },
    clientIdMetadataDocument: { enabled: true, ack: 'draft-02' },
    resourceIndicators: {
      enabled: true,
      defaultResource: () => resource,
      getResourceServerInfo: (_, audience) => ({ scope: 'read', audience, accessTokenFormat: 'jwt', accessTokenTTL: 3600, jwt: { sign: { alg: 'RS256' } } }),
      useGrantedResource: () => true,
    },
  },
  issueRefreshToken: async () => true,
  findAccount: (_, id) => ({ accountId: id, claims: async () => ({ sub: id }) }),
});
for (const event of ['server_error', 'authorization.error', 'grant.error', 'registration_create.error']) {
  provider.on(event, (_, error) => console.error(event, error.message, error.error_description, error.error_detail));
}
provider.listen(Number(port), '127.0.0.1');
