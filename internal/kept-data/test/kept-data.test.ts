import { postgresTests } from '@scoregw/postgres-server'
import { redisTests } from '@scoregw/redis-server'
import { beforeAll, describe, expect, it } from 'vitest'
import { answersOn, type Kept, POLICY_NAMES, readKept, versions } from '../src/kept.ts'
import { KINDS, type Kind } from '../src/kinds.ts'

/**
 * Answers on records of ids and holds that differ from the version that wrote them, by kind of store, policy and
 * question. Counters have no such list: they always continue exactly. If a store reads old records by a new rule, its
 * answers are here, and the rule is on the page about upgrades.
 */
const CHANGED_RECORDS: Partial<Record<Kind, Record<(typeof POLICY_NAMES)[number], Record<string, unknown>>>> = {}

const RUNS: Readonly<Record<Kind, boolean>> = {
  memory: true,
  redis: redisTests,
  leases: redisTests,
  postgres: postgresTests,
  sqlite: true,
}

describe.each(versions())('data of %s', (version) => {
  describe.each(Object.keys(KINDS) as Kind[])('%s', (kind) => {
    const kept = readKept(version, kind)
    let now: Kept['answers']
    beforeAll(async () => {
      if (RUNS[kind]) now = await answersOn(kind, kept)
    })

    describe.runIf(RUNS[kind]).each(POLICY_NAMES)('policy %s', (policy) => {
      const whatIsExact = (answers: Record<string, unknown>) => (kind === 'leases' ? withoutShared(answers) : answers)

      it('recorded counters and settings give their recorded answers', () => {
        expect(whatIsExact(now[policy].rows)).toEqual(whatIsExact(kept.answers[policy].rows))
      })

      it('recorded ids and holds give their recorded answers', () => {
        const changed = CHANGED_RECORDS[kind]?.[policy] ?? {}
        expect(whatIsExact(now[policy].records)).toEqual({ ...whatIsExact(kept.answers[policy].records), ...changed })
      })

      it.runIf(kind === 'leases')('all recorded usage of shared limits is counted, plus what is leased', () => {
        const used = usedOfSite(now[policy].rows)
        const spent = usedOfSite(readKept(version, 'redis').answers[policy].rows)
        expect(Object.keys(used)).toEqual(Object.keys(spent))
        for (const [limit, count] of Object.entries(spent)) expect(used[limit]).toBeGreaterThanOrEqual(count)
      })
    })
  })

  it('the recorded history has admissions, refusals and holds', () => {
    const { rows, records } = readKept(version, 'redis').answers.one
    expect(rows['ann has used']).toMatchObject({ 'writes hour': '17 of 100, until 2026-11-20T11:00:00.000Z' })
    expect(rows['dan writes']).toMatch('refused by person hour')
    expect(records).toMatchObject({
      'the committed id again': 'duplicate',
      'the cancelled id again': 'cancelled',
      'the open id again': 'duplicate',
      'the committed hold is committed again': { charged: 3 },
      'the expired hold is committed late': { charged: 4 },
      'the open hold is committed': { charged: 3 },
    })
  })
})

/** How much of a shared limit is leased at a moment depends on demand. The test of leases compares it. */
function withoutShared(answers: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(answers).filter(([question]) => !question.startsWith('the site has used')))
}

function usedOfSite(rows: Readonly<Record<string, unknown>>): Record<string, number> {
  const texts = Object.entries(rows['the site has used'] as Record<string, string>)
  return Object.fromEntries(texts.map(([limit, text]) => [limit, Number.parseInt(text, 10)]))
}
