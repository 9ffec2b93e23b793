try {
LINE
} finally {
  $__hermesOk = $?
  $__hermesLines = @('PWD=' + [Uri]::EscapeDataString((Get-Location).ProviderPath))
  $__hermesLines += Get-ChildItem env: | Where-Object Name -ne 'PWD' | ForEach-Object { $_.Name + '=' + [Uri]::EscapeDataString($_.Value) }
  $__hermesLines += '#end'
  [IO.File]::WriteAllLines($__hermesFile, $__hermesLines)
}
if ($null -ne $LASTEXITCODE) { exit $LASTEXITCODE }
if (-not $__hermesOk) { exit 1 }
