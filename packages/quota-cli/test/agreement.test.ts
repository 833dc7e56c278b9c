import { readFileSync } from 'node:fs'
import { luxonCalendar } from '@scoregw/quota/calendar'
import { manualClock } from '@scoregw/quota-testkit'
import { QuotaModel } from '@scoregw/quota-testkit/model'
import fc from 'fast-check'
import { afterAll, expect, it } from 'vitest'
import type { Simulation } from '../src/simulate/result.ts'
import { type RandomLog, randomLogs, type WrittenRequest } from './random-log.ts'
import { runCli } from './run-cli.ts'
import { fileOf, newPath, removeFiles } from './temporary.ts'

afterAll(removeFiles)

const RUNS = process.env.QUOTA_TEST_DEEP === '1' ? 100 : 15

interface Refusal {
  readonly line: number
  readonly at: number
  readonly limit: string
  readonly used: number
  readonly resetAt: number
}

/** What the model has to say to each request, in the order of time: it shares no code with the engine. */
function byModel({ policy, lines }: RandomLog): Refusal[] {
  const clock = manualClock(0)
  const { periods } = luxonCalendar()
  const model = new QuotaModel(policy, clock, { calendar: (window, at, anchor) => periods(window, at, anchor) })
  const requests = lines.flatMap((each, index) => ('at' in each ? [{ ...each, line: index + 1 }] : []))
  const refusals: Refusal[] = []
  for (const request of requests.toSorted((a, b) => a.at - b.at || a.line - b.line)) {
    clock.set(request.at)
    const { isRefunded, subject, operation, cost, plan, line, at }: WrittenRequest & { line: number } = request
    const asked = { subject, operation, cost, plan }
    const decision = isRefunded ? model.peek(asked) : model.consume(asked)
    if (decision.allowed) continue
    const { name, used } = decision.refusedBy
    refusals.push({ line, at, limit: name, used, resetAt: decision.resetAt })
  }
  return refusals
}

async function bySimulation({ definition, lines, options, extension }: RandomLog): Promise<[Simulation, Refusal[]]> {
  const refusals = newPath('ndjson')
  const log = fileOf(lines.map(({ text }) => `${text}\n`).join(''), extension)
  const format = extension === 'log' ? 'common' : 'ndjson'
  const args = ['simulate', fileOf(definition), log, '--format', format, '--json', '--refusals', refusals, ...options]
  const { out, err } = await runCli(args)
  expect(err).toBe('')
  const written = readFileSync(refusals, 'utf8').split('\n').slice(0, -1)
  const refused = written.map((line): Refusal => {
    const { refusedBy, ...rest } = JSON.parse(line) as Refusal & { readonly refusedBy: { name: string; used: number } }
    return { line: rest.line, at: rest.at, limit: refusedBy.name, used: refusedBy.used, resetAt: rest.resetAt }
  })
  return [JSON.parse(out) as Simulation, refused]
}

it('simulate refuses exactly the requests that the model refuses', async () => {
  let refused = 0
  let outOfOrder = 0
  await fc.assert(
    fc.asyncProperty(randomLogs, async (random) => {
      const [simulation, refusals] = await bySimulation(random)
      const expected = byModel(random)
      expect(refusals).toEqual(expected)
      const requests = random.lines.filter((each) => 'at' in each).length
      const junk = random.lines.filter((each) => !('at' in each) && each.text.trim() !== '').length
      expect(simulation).toMatchObject({ requests, lines: random.lines.length, skipped: { count: junk } })
      expect(simulation.policies[0]).toMatchObject({ requests, refused: expected.length })
      refused += expected.length
      outOfOrder += simulation.outOfOrder
    }),
    { numRuns: RUNS, endOnFailure: true },
  )
  expect(refused).toBeGreaterThan(RUNS / 5)
  expect(outOfOrder).toBeGreaterThan(RUNS / 15)
}, 120_000)
