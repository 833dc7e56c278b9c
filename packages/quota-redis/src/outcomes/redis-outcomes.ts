import {
  type MinuteOutcomes,
  OUTCOME_COLUMNS,
  OUTCOMES_KEPT_MINUTES,
  type OutcomeColumn,
  type OutcomeStore,
} from '@scoregw/quota/adaptive'
import { type Connection, carryOut, type Reply, textIn } from '../connection/connection.ts'
import { connectionTo } from '../connection/connections.ts'
import { scriptOf } from '../lua/script.ts'
import { type ClientOptions, keyOptionsParser } from '../store/options.ts'
import add from './add.lua'

/** The options of {@link redisOutcomes}. */
export interface RedisOutcomesOptions extends ClientOptions {}

/** An {@link OutcomeStore} in Redis. It counts for all processes with the same server and prefix. */
export interface RedisOutcomes extends OutcomeStore {
  add(counts: readonly MinuteOutcomes[]): Promise<void>
  read(fromMinute: number, toMinute: number): Promise<MinuteOutcomes[]>
  /** Closes the connection. Later calls, and calls in flight, reject. */
  close(): void
}

const BUCKET_MINUTES = 30
const KEPT_MS = (OUTCOMES_KEPT_MINUTES + BUCKET_MINUTES) * 60_000
/**
 * How many half-hours are added or read together, so that scripts and replies stay moderate; a week takes four reads.
 */
const BATCH_BUCKETS = 96

const parseOptions = /* @__PURE__ */ keyOptionsParser('redisOutcomes()')

const ADD = scriptOf(add)

/**
 * Counts of outcomes in Redis: one hash per half-hour, which expires 8 days after its last change. Calls reject with
 * the client's error or `store_error` while the server does not answer.
 *
 * @throws {QuotaError} `invalid_options` naming every fault
 */
export function redisOutcomes(options: RedisOutcomesOptions): RedisOutcomes {
  const { client, prefix } = parseOptions(options)
  const start = `{${prefix}}:outcomes:`
  return new Store(connectionTo(client, start, {}), start)
}

class Store implements RedisOutcomes {
  readonly #connection: Connection
  readonly #start: string

  constructor(connection: Connection, start: string) {
    this.#connection = connection
    this.#start = start
  }

  async add(counts: readonly MinuteOutcomes[]): Promise<void> {
    for (const batch of inBatches([...byBucket(counts)])) {
      const keys = batch.map(([bucket]) => this.#start + bucket)
      const words = batch.flatMap(([, counts], index) => counts.flatMap((each) => additions(index + 1, each)))
      await carryOut(this.#connection, (connection) =>
        connection.send('EVAL', ADD.text, keys.length, ...keys, KEPT_MS, ...words),
      )
    }
  }

  async read(fromMinute: number, toMinute: number): Promise<MinuteOutcomes[]> {
    const first = Math.floor(fromMinute / BUCKET_MINUTES)
    const end = Math.ceil(toMinute / BUCKET_MINUTES)
    const buckets = Array.from({ length: Math.max(0, end - first) }, (_, index) => first + index)
    const minutes: MinuteOutcomes[] = []
    for (const batch of inBatches(buckets)) {
      for (const fields of await this.#hashes(batch)) minutes.push(...minutesOf(fields))
    }
    return minutes.filter(({ minute }) => minute >= fromMinute && minute < toMinute)
  }

  close(): void {
    this.#connection.close()
  }

  #hashes(buckets: readonly number[]): Promise<ReadonlyMap<string, number>[]> {
    return Promise.all(
      buckets.map(async (bucket) => {
        const reply = await carryOut(this.#connection, (connection) => connection.send('HGETALL', this.#start + bucket))
        return fieldsIn(reply as readonly Reply[])
      }),
    )
  }
}

/** The fields of a hash, in which names and values alternate. */
function fieldsIn(words: readonly Reply[]): ReadonlyMap<string, number> {
  const fields = new Map<string, number>()
  for (let at = 0; at < words.length; at += 2) fields.set(textIn(words[at]), Number(textIn(words[at + 1])))
  return fields
}

function byBucket(counts: readonly MinuteOutcomes[]): Map<number, MinuteOutcomes[]> {
  const buckets = new Map<number, MinuteOutcomes[]>()
  for (const each of counts) {
    const bucket = Math.floor(each.minute / BUCKET_MINUTES)
    const found = buckets.get(bucket)
    if (found === undefined) buckets.set(bucket, [each])
    else found.push(each)
  }
  return buckets
}

/** The script's triples for one minute. A count of 0 needs no field. */
function additions(keyIndex: number, counts: MinuteOutcomes): (string | number)[] {
  const counted = OUTCOME_COLUMNS.filter((column) => counts[column] > 0)
  return counted.flatMap((column) => [keyIndex, `${counts.minute}:${column}`, counts[column]])
}

/** The minutes of one hash, in order. Fields that another version of this library may have added are ignored. */
function minutesOf(fields: ReadonlyMap<string, number>): MinuteOutcomes[] {
  const minutes = new Set([...fields.keys()].map((name) => Number.parseInt(name, 10)))
  return [...minutes]
    .sort((a, b) => a - b)
    .map((minute) => {
      const counts = OUTCOME_COLUMNS.map((column) => [column, fields.get(`${minute}:${column}`) ?? 0] as const)
      return { minute, ...(Object.fromEntries(counts) as Record<OutcomeColumn, number>) }
    })
}

function* inBatches<T>(items: readonly T[]): Generator<T[]> {
  for (let start = 0; start < items.length; start += BATCH_BUCKETS) yield items.slice(start, start + BATCH_BUCKETS)
}
