import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { defaultPolicy } from '@scoregw/quota'
import { progress } from '../progress.ts'
import { atMost, type Findings, resultOf } from '../report.ts'
import { type Contestant, interleave } from '../rounds.ts'
import { type LogFormat, writeLog } from './log.ts'
import { floorSeconds, simulateSeconds } from './run.ts'

const NAMES: Readonly<Record<LogFormat, string>> = {
  ndjson: 'quota-cli simulate, NDJSON',
  common: 'quota-cli simulate, common log',
}
const FLOOR = 'JSON.parse of each line'

/** A log of a million lines through the default policy: lines a second of processor time. */
export async function simulate(quick: boolean): Promise<Findings> {
  const lines = quick ? 2_000 : 1_000_000
  console.log(
    `simulate: logs of ${lines} lines through the default policy, six counters each, by the command in a process`,
  )
  const folder = await mkdtemp(join(tmpdir(), 'bench-simulate-'))
  try {
    progress('writing the logs')
    const policy = join(folder, 'policy.json')
    await writeFile(policy, JSON.stringify(defaultPolicy()))
    const logs = { ndjson: join(folder, 'log.ndjson'), common: join(folder, 'log.log') }
    for (const [format, path] of Object.entries(logs)) await writeLog(path, format as LogFormat, lines)
    progress('replaying them')
    const contestants: Contestant[] = [
      { name: FLOOR, perSecondOver: async () => lines / (await floorSeconds(logs.ndjson)) },
      ...(['ndjson', 'common'] as const).map((format) => ({
        name: NAMES[format],
        perSecondOver: async () => lines / (await simulateSeconds(policy, logs[format], lines)),
      })),
    ]
    const results = await interleave(contestants, { rounds: quick ? 1 : 5, roundMs: 0, warmUpMs: 0 })
    const seconds = (name: string): number => 1_000_000 / resultOf(results, name).perSecond
    const targets = Object.values(NAMES).map((name) =>
      atMost(`${name}: 10^6 lines, processor seconds`, 10, seconds(name)),
    )
    return { results, targets: quick ? [] : targets }
  } finally {
    await rm(folder, { recursive: true })
  }
}
