import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { checkAnswer } from './support/documents.ts'
import { type RecordedAnswer, recordedAnswers } from './support/recorded-answers.ts'

/** Recorded by running the gateway of commit 40290d1, except for names and units in the RateLimit fields. */
const recorded = JSON.parse(
  readFileSync(new URL('./support/answers-of-40290d1.json', import.meta.url), 'utf8'),
) as RecordedAnswer[]

describe('recorded quota responses', () => {
  it('quota responses equal the recorded ones byte for byte', async () => {
    expect(await recordedAnswers()).toEqual(recorded)
  })

  it.each(recorded)('the OpenAPI document describes the recorded response to $asked', async ({ asked, head, body }) => {
    const [method = '', path = ''] = asked.split(' ')
    const [start = '', ...fields] = head
    // Not recorded, since it is another one each time.
    const headers = new Headers({ 'X-Request-Id': 'recorded' })
    for (const field of fields) headers.append(...(field.split(/: (.*)/, 2) as [string, string]))
    const status = Number(start.split(' ')[1])
    await checkAnswer('gateway', { method, path, status, headers, body: JSON.parse(body) })
  })
})
