import { postgresTests } from '@scoregw/postgres-server'
import { testSeed } from '@scoregw/server-kit'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { arrayOf } from '../src/postgres/session.ts'
import { TestDatabase } from './support/database.ts'

describe.runIf(postgresTests)('arrays in PostgreSQL’s format', () => {
  const database = new TestDatabase()

  it('an array of any texts without NUL is read back unchanged', async () => {
    const pool = database.pool()
    const text = fc.oneof(
      fc.constantFrom(
        '',
        'null',
        'NULL',
        '{}',
        ',',
        '"',
        '\\',
        '\\n',
        '\\"',
        '\u0001',
        '\n\t\r\b\f',
        '\u2028',
        '玩家',
        '[["a",1]]',
      ),
      fc.string({ unit: 'grapheme' }).filter((each) => !each.includes('\0')),
    )
    const numbers = fc.array(fc.maxSafeInteger(), { maxLength: 9 })
    for (const [texts, ends] of fc.sample(fc.tuple(fc.array(text, { maxLength: 9 }), numbers), {
      numRuns: 200,
      seed: testSeed,
    })) {
      const requested = 'select $1::text[] as texts, $2::bigint[]::text[] as ends'
      const { rows } = await pool.query(requested, [arrayOf(texts), arrayOf(ends)])
      const kept = ends.map(String)
      expect(rows, `seed ${testSeed}`).toEqual([{ texts, ends: kept }])
    }
  })
})
