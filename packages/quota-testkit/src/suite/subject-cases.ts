import assert from 'node:assert/strict'
import type { TakeReply } from '@scoregw/quota/store'
import type { ContextCase } from './old-case.ts'
import { plainCase } from './old-case.ts'
import { idOf, ONE_WINDOW, Probe, SIX_WINDOWS, throwsCode } from './probe.ts'

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
export const SUBJECT_CASES: readonly ContextCase[] = [
  plainCase('any text can be a subject, and no two texts share a counter', async ({ store }) => {
    const probe = new Probe(store, ONE_WINDOW, STRANGE_TEXTS.length)
    for (const [index, subject] of STRANGE_TEXTS.entries()) await probe.admitted(index + 1, { subject })
    for (const [index, subject] of STRANGE_TEXTS.entries()) {
      assert.deepEqual(await probe.used({ subject }), [index + 1], `subject ${JSON.stringify(subject)}`)
    }
  }),
  plainCase('resets and refunds reach a subject of any text and no other', async ({ store }) => {
    const probe = new Probe(store, ONE_WINDOW, 10)
    const replies: TakeReply[] = []
    for (const subject of STRANGE_TEXTS) replies.push(await probe.admitted(3, { subject }))
    for (const [index, subject] of STRANGE_TEXTS.entries()) {
      if (index % 2 === 0) await probe.reset({ subject })
      else await probe.cancel(replies[index], 2, { subject })
    }
    for (const [index, subject] of STRANGE_TEXTS.entries()) {
      assert.deepEqual(await probe.used({ subject }), [index % 2 === 0 ? 0 : 1], JSON.stringify(subject))
    }
  }),
  {
    name: 'any text can be an id, and no two texts are one id',
    needs: 'ids',
    async run({ store }) {
      const probe = new Probe(store, ONE_WINDOW, 1_000)
      for (const [index, id] of STRANGE_TEXTS.entries()) await probe.admitted(1, { id: idOf(id, `nonce-${index}`) })
      assert.deepEqual(await probe.used(), [STRANGE_TEXTS.length])
      for (const id of STRANGE_TEXTS) {
        assert.equal((await probe.take(1, { id: idOf(id, 'other') })).outcome, 'duplicate', JSON.stringify(id))
      }
    },
    async without({ store }) {
      const probe = new Probe(store, ONE_WINDOW, 10)
      await throwsCode(() => probe.take(1, { id: idOf('__proto__') }))
    },
  },
  plainCase('counters that are opened twice share their counts', async ({ store, peer }) => {
    const probe = new Probe(store, SIX_WINDOWS, 10)
    await probe.admitted(3)
    for (const other of [store, peer]) {
      const again = new Probe(other, structuredClone(SIX_WINDOWS), 10)
      assert.deepEqual(await again.used(), [3, 3, 3, 3, 3, 3])
      await again.refused(8)
    }
    assert.deepEqual(await probe.used(), [3, 3, 3, 3, 3, 3])
  }),
]
