import assert from 'node:assert/strict'
import { windowCell } from '@scoregw/quota/internal'
import type { TakeReply } from '@scoregw/quota/store'
import type { ConformanceCase } from './harness.ts'
import { HOUR_MS, inEach } from './limits.ts'
import { Probe } from './probe.ts'
import { casesOn, needing } from './scene.ts'

/** Texts that a careless encoding would confuse. Any two of them are two subjects, ids or documents. */
export const STRANGE_TEXTS: readonly string[] = [
  ...'a A a:b a::b : {a} {a a} }{ {} %7Ba%7D a%00 %61 "a" \\a \\u0061 a* a? [a] ../a a/b a,b a|b'.split(' '),
  ...'__proto__ constructor hasOwnProperty toString null undefined 0 00 -1 1e3 1000 everybody site personal'.split(' '),
  ...'\u00e9 e\u0301 \u{1f600} \u{1f600}\u200d \ud83d \ude00 \ud83d! \ude00\ud83d \ufffd \ufffd! \ufffd\ufffd'.split(
    ' ',
  ),
  ...'\ud800 \ud801 \ufeffa \u202ea 用户'.split(' '),
  ...'a ; a;a\u0000;\u0000a;\u0000;\u0000\u0000;a\n;a\r\n'.split(';'),
  ...["'a'", 'x'.repeat(255), 'x'.repeat(256), `${'x'.repeat(255)}y`, '\u00e9'.repeat(128), '\u{1f600}'.repeat(64)],
]

/** Cases about names: a subject can be any text, and no two subjects share a counter. */
export const SUBJECT_CASES: readonly ConformanceCase[] = casesOn(
  { room: 1_000 },
  {
    async 'any text can be a subject, and no two texts share a counter'({ admit, isUsed }) {
      for (const [index, subject] of STRANGE_TEXTS.entries()) await admit(index + 1, { subject })
      for (const [index, subject] of STRANGE_TEXTS.entries())
        await isUsed(index + 1, { subject }, `subject ${JSON.stringify(subject)}`)
    },
    async 'resets and refunds reach a subject of any text and no other'({ admit, reset, cancel, isUsed }) {
      const replies: TakeReply[] = []
      for (const subject of STRANGE_TEXTS) replies.push(await admit(3, { subject }))
      for (const [index, subject] of STRANGE_TEXTS.entries()) {
        if (index % 2 === 0) await reset({ subject })
        else await cancel(replies[index], 2, { subject })
      }
      for (const [index, subject] of STRANGE_TEXTS.entries())
        await isUsed(index % 2 === 0 ? 0 : 1, { subject }, JSON.stringify(subject))
    },
    'any text can be an id, and no two texts are one id': needing('ids', async ({ admit, take, isUsed }) => {
      for (const [index, id] of STRANGE_TEXTS.entries()) await admit(1, { id, nonce: `nonce-${index}` })
      await isUsed(STRANGE_TEXTS.length)
      for (const id of STRANGE_TEXTS)
        assert.equal((await take(1, { id, nonce: 'other' })).outcome, 'duplicate', JSON.stringify(id))
    }),
    async 'names that join to equal texts have different counters'({ store }) {
      const names = ['a', 'a-b', 'a_b', 'b', 'b-c', 'b_c', 'c', 'A']
      const layers = names.flatMap((name) => [
        { name, shared: false },
        { name: `${name}-s`, shared: true },
      ])
      const cells = names.map((label) => windowCell({ label, lengthMs: HOUR_MS }))
      const probe = new Probe(store, inEach(layers, ...cells), 1_000)
      const each = layers.map(({ name }, index) => ({ layers: [name], tokens: 1 + index }))
      for (const { tokens, ...terms } of each) await probe.admit(tokens, terms)
      for (const { tokens, ...terms } of each) await probe.isUsed(tokens, terms)
    },
  },
)
