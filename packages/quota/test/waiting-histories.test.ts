import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { randomRuns, slowTests, testSeed } from '@scoregw/server-kit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import * as engine from '../src/index.ts'
import * as waiting from '../src/waiting.ts'
import { FakeTime } from './waiting/fake-time.ts'
import { FAULTS, type Fault } from './waiting/faults.ts'
import { type Counts, History, type Library, type StoreKind } from './waiting/history.ts'

const isDeep = process.env.QUOTA_TEST_DEEP === '1'
const RUNS = Number(process.env.QUOTA_TEST_RUNS ?? randomRuns(15, 100_000))
const SOURCES = join(import.meta.dirname, '../src')

/** @throws the first fault that a history shows */
function play(library: Library, kind: StoreKind, run: number): Promise<Counts> {
  return FakeTime.run(() => played(library, kind, run))
}

async function played(library: Library, kind: StoreKind, run: number): Promise<Counts> {
  const history = new History(library, kind, testSeed * 1_000_003 + run)
  try {
    await history.play()
  } catch (error) {
    const log = history.log.slice(-200).join('\n')
    throw new Error(`QUOTA_TEST_SEED=${testSeed}, run ${run}, ${kind}: ${(error as Error).message}\n${log}`, {
      cause: error,
    })
  }
  return history.counts
}

describe.each(['sync', 'late'] as const)('random histories over a %s store', (kind) => {
  it('a random history keeps the order, wakes every caller, exceeds no limit and leaves no timer', {
    timeout: 6 * 3_600_000,
  }, async () => {
    const total = { admitted: 0, waited: 0, gaveUp: 0, aborted: 0, closed: 0, compared: 0, rested: 0 }
    for (let run = 0; run < RUNS; run++) {
      const counts = await play({ ...engine, ...waiting }, kind, run)
      for (const key of Object.keys(total) as (keyof Counts)[]) total[key] += counts[key]
    }
    if (isDeep) process.stderr.write(`${RUNS} histories, ${kind}: ${JSON.stringify(total)}\n`)
    // A check that compares nothing shows nothing.
    expect(total.waited).toBeGreaterThan(3 * RUNS)
    expect(total.compared).toBeGreaterThan(5 * RUNS)
    expect(total.rested).toBeGreaterThan(50 * RUNS)
  })
})

it.each(FAULTS)('a line to put a fault into occurs once: $name', async ({ file, from }) => {
  expect((await readFile(join(SOURCES, 'waiting', file), 'utf8')).split(from)).toHaveLength(2)
})

describe.runIf(slowTests)('mutants of the waiting queue', () => {
  /** Most histories that a fault may survive. */
  const MOST = 1_500
  let folder: string
  beforeAll(async () => {
    folder = await mkdtemp(join(import.meta.dirname, '.faulty-'))
  })
  afterAll(() => rm(folder, { recursive: true, force: true }))

  async function faulty({ file, from, to }: Fault): Promise<Library> {
    const sources = await mkdtemp(join(folder, 'src-'))
    await cp(SOURCES, sources, { recursive: true })
    const path = join(sources, 'waiting', file)
    const text = await readFile(path, 'utf8')
    expect(text.split(from)).toHaveLength(2)
    await writeFile(
      path,
      text.replace(from, () => to),
    )
    const load = (entry: string): Promise<object> => import(/* @vite-ignore */ join(sources, entry))
    return { ...(await load('index.ts')), ...(await load('waiting.ts')) } as Library
  }

  const NOTHING = {
    name: 'nothing, as long as nothing is wrong',
    file: 'lanes.ts',
    from: 'class Lanes',
    to: 'class Lanes',
  }
  const tried = [NOTHING, ...(isDeep ? FAULTS : FAULTS.slice(0, 3))]
  it.each(tried)('the histories find the fault: $name', { timeout: 600_000 }, async (fault) => {
    const library = await faulty(fault)
    let noticed: string | undefined
    let run = 0
    for (; run < (fault === NOTHING ? 30 : MOST) && noticed === undefined; run++) {
      await play(library, run % 2 === 0 ? 'late' : 'sync', run).catch((error: Error) => {
        noticed = error.message.split('\n')[0]!
      })
    }
    if (isDeep) process.stderr.write(`${fault.name}: ${noticed}\n`)
    if (fault === NOTHING) expect(noticed).toBe(undefined)
    else expect(noticed).toMatch(/QUOTA_TEST_SEED/)
  })
})
