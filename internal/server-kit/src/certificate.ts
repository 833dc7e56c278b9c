/**
 * A key and a certificate of `localhost` and `127.0.0.1`, for tests of HTTPS and HTTP/2. Anyone can read the key, so
 * it protects nothing, and clients of tests don't check the certificate.
 */
export const TEST_CERTIFICATE: { readonly key: string; readonly cert: string } = {
  key: `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgYKU2s+YduP2j6P5U
Oc4iR1mgUOHRSaAAM7VLZ1XTd2ShRANCAARyxqRTuq0DXTzBhO3VECcENCYmA9jk
0T1vlPAdpM+bgUUNXLWHf3W8KNTMhywo7pPWRcc7kqr6XfU65+0U3+iz
-----END PRIVATE KEY-----`,
  cert: `-----BEGIN CERTIFICATE-----
MIIBnDCCAUGgAwIBAgIUKlcu5YdKT3aJqsBBOu3VvhXhblYwCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTEyODE2MzA0NloYDzIxMjYxMTA0
MTYzMDQ2WjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAARyxqRTuq0DXTzBhO3VECcENCYmA9jk0T1vlPAdpM+bgUUNXLWHf3W8
KNTMhywo7pPWRcc7kqr6XfU65+0U3+izo28wbTAdBgNVHQ4EFgQUPR9fQCY4xdBS
pMD7PCRgR4n3/d4wHwYDVR0jBBgwFoAUPR9fQCY4xdBSpMD7PCRgR4n3/d4wDwYD
VR0TAQH/BAUwAwEB/zAaBgNVHREEEzARhwR/AAABgglsb2NhbGhvc3QwCgYIKoZI
zj0EAwIDSQAwRgIhAOUsfKRCXvv6ZcbntbQWZJoyqrJwuwAzR0jNjPdcvMHEAiEA
rS9V18NxY3D1rDBAiymD2bVz3iDQRTEYSkgrkGc/690=
-----END CERTIFICATE-----`,
}
