import { basename } from 'node:path'
import { testFile } from './shared.ts'
import { SPECIFICATION } from './specification.ts'

/** `EXTRAS` of the gateways in this test file: the specification's tests need none. */
export function extrasHere(): string {
  return process.env.EXTRAS ?? (SPECIFICATION.includes(basename(testFile(), '.test.ts')) ? 'none' : 'all')
}
