import type { RefusalCase } from './case.ts'

/** Bodies that cannot be read. */
export const BODIES: readonly RefusalCase[] = [
  { name: 'not JSON', options: { text: '{"musicList":' }, status: 400, error: 'bad_request' },
  { name: 'a JSON text that is no object', options: { text: '5' }, status: 400, error: 'bad_request' },
  { name: 'nested and never closed', options: { text: '['.repeat(4_000) }, status: 400, error: 'bad_request' },
  {
    name: 'too many members and elements',
    options: { text: `{"musicList":[${'0,'.repeat(6_000)}0]}` },
    status: 413,
    error: 'payload_too_large',
  },
  {
    name: 'bytes that are not UTF-8',
    options: { text: Uint8Array.of(0x7b, 0x22, 0xff, 0x22, 0x3a, 0x30, 0x7d) },
    status: 400,
    error: 'bad_request',
  },
  {
    name: 'not UTF-8',
    options: { text: '{}', headers: { 'Content-Type': 'application/json; charset=latin1' } },
    status: 415,
    error: 'unsupported_media_type',
  },
  {
    name: 'a wrong content type',
    options: { text: '{}', headers: { 'Content-Type': 'text/plain' } },
    status: 415,
    error: 'unsupported_media_type',
  },
  {
    name: 'a form',
    options: { text: 'a=1', headers: { 'Content-Type': 'application/x-www-form-urlencoded' } },
    status: 415,
    error: 'unsupported_media_type',
  },
  {
    name: 'a body too large',
    options: { body: { pad: 'x'.repeat(65_536) } },
    status: 413,
    error: 'payload_too_large',
  },
  {
    name: 'a body too large of a wrong type',
    options: { text: 'x'.repeat(65_537), headers: { 'Content-Type': 'text/plain' } },
    status: 413,
    error: 'payload_too_large',
  },
  {
    name: 'packed',
    options: { text: 'x', headers: { 'Content-Encoding': 'gzip' } },
    status: 415,
    error: 'unsupported_media_type',
  },
  { name: 'no body', options: {}, status: 422, error: 'validation_failed', paths: ['musicList'] },
]
