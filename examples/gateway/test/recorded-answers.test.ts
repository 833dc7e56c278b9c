import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { recordedAnswers } from './support/recorded-answers.ts'

/** Recorded by running the gateway of commit 40290d1. */
const recorded: unknown = JSON.parse(
  readFileSync(new URL('./support/answers-of-40290d1.json', import.meta.url), 'utf8'),
)

describe('answers about quota', () => {
  it('are to the byte what they were when the specification was built', async () => {
    expect(await recordedAnswers()).toEqual(recorded)
  })
})
