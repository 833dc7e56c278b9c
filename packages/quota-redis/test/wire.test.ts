import * as fc from 'fast-check'
import { Command } from 'ioredis'
import { describe, expect, it } from 'vitest'
import { wireBytes } from '../src/line/wire.ts'

describe('a command on the wire', () => {
  it("is the same as the client's own, of any words", () => {
    const word = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom('', 'é', '\ud800', '用户', '\r\n$3\r\n'),
      fc.maxSafeInteger(),
      fc.uint8Array().map((bytes) => Buffer.from(bytes)),
    )
    void fc.assert(
      fc.property(fc.array(word, { maxLength: 12 }), (words) => {
        const own = new Command('EVALSHA', [...words]).toWritable({})
        expect(wireBytes(['EVALSHA', ...words]).toString('hex')).toBe(Buffer.from(own).toString('hex'))
      }),
      { numRuns: 2_000 },
    )
  })
})
