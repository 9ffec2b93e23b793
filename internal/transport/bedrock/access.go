package bedrock

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/config"

	"hermes"
	"hermes/internal/fault"
)

// Access holds the user's settings for the AWS account. For empty fields the usual
// AWS sources are searched: environment, profiles, single sign-on, roles, the
// container, the machine.
type Access struct {
	Region  string
	Profile string
	// KeyID and Secret are a key pair. Token is needed for a temporary one.
	KeyID         string
	Secret, Token hermes.Secret
}

// signer signs requests. It loads the AWS configuration at the first use, since
// that reads files and may make requests.
type signer struct {
	access Access

	mu     sync.Mutex
	loaded *aws.Config
}

// usualRegion is used if no region is set anywhere.
const usualRegion = "us-east-1"

func (s *signer) region(ctx context.Context) (string, error) {
	if s.access.Region != "" {
		return s.access.Region, nil
	}
	cfg, err := s.load(ctx)
	if err != nil {
		return "", err
	}
	return cmp.Or(cfg.Region, usualRegion), nil
}

func (s *signer) sign(ctx context.Context, req *http.Request, body []byte, region string, now time.Time) error {
	if region == "" {
		var err error
		if region, err = s.region(ctx); err != nil {
			return err
		}
	}
	who, err := s.credentials(ctx)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(body)
	return v4.NewSigner().SignHTTP(ctx, who, req, hex.EncodeToString(sum[:]), "bedrock", region, now)
}

// credentials returns those that were set, or those that the AWS chain finds. The
// chain caches and renews temporary ones.
func (s *signer) credentials(ctx context.Context) (aws.Credentials, error) {
	if a := s.access; a.KeyID != "" && a.Secret != "" {
		return aws.Credentials{AccessKeyID: a.KeyID, SecretAccessKey: a.Secret.Reveal(), SessionToken: a.Token.Reveal()}, nil
	}
	cfg, err := s.load(ctx)
	if err != nil {
		return aws.Credentials{}, err
	}
	if cfg.Credentials == nil {
		return aws.Credentials{}, noAccount(noAccess)
	}
	who, err := cfg.Credentials.Retrieve(ctx)
	if err != nil {
		if ctx.Err() != nil {
			return aws.Credentials{}, err
		}
		return aws.Credentials{}, errors.Join(noAccount(noAccess), err)
	}
	return who, nil
}

const noAccess = "no working AWS credentials found; set AWS_BEARER_TOKEN_BEDROCK, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE after `aws configure` or `aws sso login`"

func (s *signer) load(ctx context.Context) (*aws.Config, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.loaded != nil {
		return s.loaded, nil
	}
	var set []func(*config.LoadOptions) error
	if s.access.Profile != "" {
		set = append(set, config.WithSharedConfigProfile(s.access.Profile))
	}
	if s.access.Region != "" {
		set = append(set, config.WithRegion(s.access.Region))
	}
	cfg, err := config.LoadDefaultConfig(ctx, set...)
	if err != nil {
		return nil, errors.Join(noAccount("cannot load the AWS configuration: "+err.Error()), err)
	}
	s.loaded = &cfg
	return s.loaded, nil
}

// noAccount is a failure before the service was called: it has no status, only a
// type.
func noAccount(message string) error { return said(0, "authentication_error", message) }

// refusal is a failure that the service reported in an unusual place.
func refusal(status int, message string) error { return said(status, "", message) }

func said(status int, kind, message string) error {
	body, err := json.Marshal(map[string]string{"type": kind, "message": message})
	if err != nil {
		return err
	}
	return &fault.Failure{Status: status, Body: body}
}
