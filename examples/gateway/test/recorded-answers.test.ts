import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { recordedAnswers } from './support/recorded-answers.ts'

/** Recorded by running the gateway of commit 40290d1, except for names and units in the RateLimit fields. */
const recorded: unknown = JSON.parse(
  readFileSync(new URL('./support/answers-of-40290d1.json', import.meta.url), 'utf8'),
)

describe('recorded quota responses', () => {
  it('quota responses equal the recorded ones byte for byte', async () => {
    expect(await recordedAnswers()).toEqual(recorded)
  })
})
