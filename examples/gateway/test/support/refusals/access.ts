import { ADMIN_TOKEN } from '../gateway.ts'
import { one, type RefusalCase, UPSERT } from './case.ts'

/** Credentials, paths and methods. */
export const ACCESS: readonly RefusalCase[] = [
  {
    name: 'no token',
    options: { ...one({}), token: null },
    status: 401,
    error: 'unauthorized',
    headers: { 'WWW-Authenticate': 'Bearer' },
  },
  {
    name: 'a wrong token',
    options: { ...one({}), token: `gw_${'A'.repeat(43)}` },
    status: 401,
    error: 'unauthorized',
    headers: { 'WWW-Authenticate': 'Bearer error="invalid_token"' },
  },
  {
    name: 'a token that is no gateway token',
    options: { ...one({}), token: 'mk_0123456789' },
    status: 401,
    error: 'unauthorized',
  },
  {
    name: 'another scheme',
    options: { ...one({}), token: null, headers: { Authorization: 'Basic ZGVtbzpkZW1v' } },
    status: 401,
    error: 'unauthorized',
  },
  {
    name: 'an overlong credential',
    options: { ...one({}), token: `gw_${'A'.repeat(9_000)}` },
    status: 401,
    error: 'unauthorized',
  },
  { name: 'no token at an unknown path', path: '/nope', options: { token: null }, status: 401, error: 'unauthorized' },
  { name: 'no token and no JSON', options: { token: null, text: '{' }, status: 401, error: 'unauthorized' },
  { name: 'an unknown path', path: '/v1/nope', options: {}, status: 404, error: 'not_found' },
  { name: 'a path in capitals', path: '/V1/MUSIC/UPSERT', options: one({}), status: 404, error: 'not_found' },
  { name: 'a path with a slash too many', path: `${UPSERT}/`, options: one({}), status: 404, error: 'not_found' },
  {
    name: 'broken percent-encoding',
    method: 'GET',
    path: '/admin/users/%E0%A4%A/quota',
    options: { token: ADMIN_TOKEN },
    status: 400,
    error: 'bad_request',
  },
  {
    name: 'a wrong method',
    method: 'GET',
    options: {},
    status: 405,
    error: 'method_not_allowed',
    headers: { Allow: 'OPTIONS, POST' },
  },
  {
    name: 'a wrong method and no JSON',
    method: 'PUT',
    options: { text: '{' },
    status: 405,
    error: 'method_not_allowed',
  },
  {
    name: 'a wrong method at a public path',
    method: 'POST',
    path: '/v1/health',
    options: { token: null },
    status: 405,
    error: 'method_not_allowed',
    headers: { Allow: 'GET, HEAD, OPTIONS' },
  },
]
