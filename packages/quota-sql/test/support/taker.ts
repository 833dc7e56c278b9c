import { argv } from 'node:process'
import { postgresStore } from '../../src/index.ts'
import { SCHEMA, take } from './counting.ts'
import { poolOf } from './pool.ts'

/** Takes tokens of a subject with 32 callers until it is killed, and reports how many were answered. */
const [, , url = '', subject = ''] = argv
const counters = postgresStore({ pool: poolOf(url), deadlineMs: 5_000 }).open(SCHEMA)
let answered = 0
await Promise.all(
  Array.from({ length: 32 }, async () => {
    for (;;) {
      await take(counters, subject)
      answered++
      process.send?.(answered)
    }
  }),
)
