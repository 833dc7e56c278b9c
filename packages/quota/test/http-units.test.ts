import { describe, expect, it } from 'vitest'
import { AdmittedRequest, httpMeter } from '../src/http.ts'
import { createQuota, memoryStore } from '../src/index.ts'
import { testClock } from './support.ts'
import { SUBJECT, spent, unitsPolicy } from './units-policy.ts'

type Units = NonNullable<typeof unitsPolicy.counting>

function engine() {
  const clock = testClock()
  const quota = createQuota({ policy: unitsPolicy, clock, store: memoryStore({ clock }), logger: console })
  const used = () =>
    Object.values(quota.statusSync(SUBJECT).limits)
      .map((each) => each.used)
      .slice(0, 3)
  return { quota, used }
}

async function admitted(settle: 'outcome' | 'end') {
  const { quota, used } = engine()
  const logger = { warn: () => undefined, error: () => undefined }
  const meter = httpMeter({ quota, settle, standardHeaders: 'draft-11', logger })
  const admission = await meter.admit({
    method: 'POST',
    operation: 'complete',
    subject: SUBJECT,
    cost: { tokens: 4_000 },
  })
  if (!(admission instanceof AdmittedRequest)) throw new Error(admission.kind)
  return { admission: admission as unknown as AdmittedRequest<Units>, used }
}

describe('metered requests over several units', () => {
  it('a request is charged by unit and settled by a record', async () => {
    const { admission, used } = await admitted('end')
    expect(admission.charged).toEqual({ requests: 1, tokens: 4_000, usd: 9_000 })
    expect(used()).toEqual([1, 4_000, 9_000])
    expect(admission.headersFor(200).RateLimit).toBe('"user-tokens";r=6000;t=60')
    await admission.add({ tokens: 1_000 })
    expect(admission.charged).toEqual({ requests: 1, tokens: 5_000, usd: 9_000 })
    expect(admission.headersFor(200).RateLimit).toBe('"user-tokens";r=5000;t=60')
    const nothing = { requests: 0, tokens: 0, usd: 0 }
    const charged = { requests: 1, tokens: 812, usd: 3_100 }
    expect(await admission.commit(spent(812, 3_100))).toEqual({ charged, uncharged: nothing })
    expect([admission.charged, used()]).toEqual([charged, [1, 812, 3_100]])
    await admission.end()
    expect(used()).toEqual([1, 812, 3_100])
  })

  it('a failed response gives back each unit', async () => {
    const { admission, used } = await admitted('outcome')
    expect(admission.headersFor(500).RateLimit).toBe('"user-tokens";r=10000;t=60')
    await admission.settle(500)
    expect([admission.charged, used()]).toEqual([{ requests: 0, tokens: 0, usd: 0 }, [0, 0, 0]])
  })

  it('a commit of unknown units falls back to the response’s outcome, and the error names the fault', async () => {
    const { admission, used } = await admitted('end')
    await expect(admission.commit(812 as never)).rejects.toThrow(/this policy counts requests, tokens, usd/)
    await admission.settle(200)
    await admission.end()
    expect(used()).toEqual([1, 4_000, 9_000])
  })

  it('a refused request reports the unit that refuses', async () => {
    const { quota } = engine()
    const meter = httpMeter({ quota })
    const asked = { method: 'POST', operation: 'complete', subject: SUBJECT, cost: { tokens: 10_001 } } as const
    const answer = await meter.admit(asked)
    expect(answer).toMatchObject({
      status: 429,
      body: {
        msg: 'This request needs 10,001 tokens, more than the limit of 10,000 per minute.',
        quota: { name: 'user-tokens', title: 'user', unit: 'tokens', requested: 10_001 },
      },
    })
  })

  it('httpMeter() rejects a cost with other units', () => {
    const { quota } = engine()
    const options = { quota, subject: () => SUBJECT, operation: () => 'list' as const }
    const adapter = { name: 'own()', method: () => 'GET', languages: () => undefined }
    const make = (cost: unknown) => () => httpMeter({ ...options, cost: cost as { tokens: number } }, adapter)
    expect(make({ tokens: 5 })).not.toThrow()
    expect(make({ token: 5 })).toThrow(/invalid options of own\(\): cost.token: not a unit: "token"/)
    expect(make(5)).toThrow(/cost: this policy counts requests, tokens, usd: write { tokens: 5 }/)
  })
})
