import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { readChart } from './charts.ts'
import { readHistory, requestText } from './history.ts'
import type { Patience } from './patient-fetch.ts'
import { playerText, readPlayer } from './player.ts'
import { Refused } from './refused.ts'
import { type NewScore, readScores, uploadScores } from './scores.ts'
import { type Access, chartsClient, gatewayClient, syncClient } from './services.ts'
import { type SyncRecord, syncSnapshot } from './snapshot.ts'
import { chartText, scoreText } from './text.ts'
import { uploadAtOnce } from './upload-session.ts'
import { USAGE, UsageError } from './usage.ts'

/** The environment of a run: what the client reads and writes. */
export interface World {
  readonly env: Readonly<Record<string, string | undefined>>
  /** One line of the result. */
  print(line: string): void
  /** How far it is; each takes the place of the one before. */
  progress(text: string): void
  /** A line beside the result. */
  note(line: string): void
  /** Resolves after that many milliseconds. */
  wait(ms: number): Promise<void>
}

/** Runs one command; resolves to the exit code: 0 done, 1 refused or not reached, 2 not understood. */
export async function runClient(args: readonly string[], world: World): Promise<0 | 1 | 2> {
  try {
    await run(args, world)
    return 0
  } catch (error) {
    if (error instanceof UsageError) {
      world.note(`${error.message}\nSee --help.`)
      return 2
    }
    if (!(error instanceof Refused || isNotReached(error))) throw error
    world.note(error instanceof Refused ? error.message : `No answer: ${messageOf(error.cause)}`)
    return 1
  }
}

async function run(args: readonly string[], world: World): Promise<void> {
  const { values, positionals } = parsed(args)
  const [command, ...rest] = positionals
  if (values.help === true || command === undefined) return world.print(USAGE)
  const operands = (names: readonly string[]): string[] => {
    if (rest.length === names.length) return rest
    throw new UsageError(`${command} takes ${names.length === 0 ? 'nothing more' : names.join(' and ')}.`)
  }
  switch (command) {
    case 'scores':
      operands([])
      return scores(world)
    case 'upload': {
      const [file = ''] = operands(['FILE'])
      const list = listIn<NewScore>(file)
      return values['at-once'] === true ? atOnce(world, list) : upload(world, list)
    }
    case 'history':
      operands([])
      return history(world)
    case 'sync': {
      const [qq = '', file = ''] = operands(['QQ', 'FILE'])
      return sync(world, Number(qq), listIn<SyncRecord>(file), chunkSizeOf(values['chunk-size']))
    }
    case 'player': {
      const [qq = ''] = operands(['QQ'])
      return player(world, qq)
    }
    case 'chart': {
      const [key = ''] = operands(['KEY'])
      return chart(world, key)
    }
    default:
      throw new UsageError(`There is no command ${command}.`)
  }
}

async function scores(world: World): Promise<void> {
  const all = await readScores(gatewayClient(accessTo(world, 'GATEWAY'), patienceOf(world)))
  for (const score of all) world.print(scoreText(score))
  world.print(`${all.length} scores`)
}

async function upload(world: World, list: readonly NewScore[]): Promise<void> {
  const gateway = gatewayClient(accessTo(world, 'GATEWAY'), patienceOf(world))
  const { written, unchanged } = await uploadScores(gateway, list, (sent) => {
    world.progress(`sent ${sent} of ${list.length}`)
  })
  world.print(`${written} written, ${unchanged} unchanged`)
}

/** A session ends after 10 minutes without a call: a longer wait would lose it. */
const MOST_WAIT_SECONDS = 540

async function atOnce(world: World, list: readonly NewScore[]): Promise<void> {
  const gateway = gatewayClient(accessTo(world, 'GATEWAY'), { ...patienceOf(world), mostSeconds: MOST_WAIT_SECONDS })
  const { written, unchanged, tokens } = await uploadAtOnce(gateway, list, (sent) => {
    world.progress(`sent ${sent} of ${list.length}`)
  })
  world.print(`${written} written, ${unchanged} unchanged, ${tokens} tokens`)
}

async function history(world: World): Promise<void> {
  const { requests, today } = await readHistory(gatewayClient(accessTo(world, 'GATEWAY'), patienceOf(world)))
  for (const each of requests) world.print(requestText(each))
  world.print(`${today.requests} requests and ${today.tokens} tokens today`)
}

async function player(world: World, qq: string): Promise<void> {
  const { player: known, trend } = await readPlayer(syncClient(accessTo(world, 'SYNC'), patienceOf(world)), qq)
  for (const line of playerText(known, trend)) world.print(line)
}

async function sync(world: World, qq: number, records: readonly SyncRecord[], chunkSize: number): Promise<void> {
  const snapshot = { qq, records, chunkSize, id: randomUUID() }
  const client = syncClient(accessTo(world, 'SYNC'), patienceOf(world))
  const { imported, updated, skipped, stored, faults } = await syncSnapshot(client, snapshot, (sent) => {
    world.progress(`sent ${sent} of ${records.length}`)
  })
  for (const fault of faults) world.note(fault)
  world.print(`${imported} new, ${updated} changed, ${skipped} skipped; ${stored} stored`)
}

async function chart(world: World, key: string): Promise<void> {
  const charts = chartsClient(accessTo(world, 'CHARTS'), patienceOf(world))
  for (const line of chartText(await readChart(charts, key))) world.print(line)
}

function parsed(args: readonly string[]): {
  readonly values: {
    readonly help?: boolean
    readonly 'chunk-size'?: string
    readonly 'at-once'?: boolean
  }
  readonly positionals: readonly string[]
} {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        help: { type: 'boolean' },
        'chunk-size': { type: 'string' },
        'at-once': { type: 'boolean' },
      },
    })
  } catch (error) {
    throw new UsageError((error as Error).message, { cause: error })
  }
}

function chunkSizeOf(text = '1000'): number {
  const size = Number(text)
  if (Number.isInteger(size) && size >= 1 && size <= 10_000) return size
  throw new UsageError(`--chunk-size: expected a whole number from 1 to 10000, got ${text}.`)
}

/** The list's content is left to the service, which names every fault. */
function listIn<T>(file: string): readonly T[] {
  try {
    const list: unknown = JSON.parse(readFileSync(file, 'utf8'))
    if (Array.isArray(list)) return list
  } catch (error) {
    throw new UsageError(`${file} cannot be read as JSON: ${(error as Error).message}`, { cause: error })
  }
  throw new UsageError(`${file} holds no list.`)
}

const DEFAULTS = {
  GATEWAY: { url: 'http://127.0.0.1:8080', credential: 'GATEWAY_TOKEN' },
  SYNC: { url: 'http://127.0.0.1:8081', credential: 'BOT_TOKEN' },
  CHARTS: { url: 'http://127.0.0.1:8082', credential: 'CHART_API_KEY' },
} as const

function accessTo({ env }: World, service: keyof typeof DEFAULTS): Access {
  const { url, credential: name } = DEFAULTS[service]
  const credential = env[name]
  if (credential === undefined || credential === '') throw new UsageError(`${name} is not set.`)
  return { url: env[`${service}_URL`] ?? url, credential }
}

function patienceOf({ wait, note }: World): Patience {
  return {
    wait,
    onWait: (seconds, reason) => note(`${reason}\nWaiting ${seconds} s.`),
  }
}

/** `fetch` says no more than that it failed; why is in its cause. */
function isNotReached(error: unknown): error is TypeError {
  return error instanceof TypeError && error.message === 'fetch failed'
}

function messageOf(cause: unknown): string {
  return cause instanceof Error && cause.message !== '' ? cause.message : 'the service cannot be reached'
}
