import { execFileSync } from 'node:child_process'

/** How fast one contestant was. */
export interface Rate {
  readonly name: string
  /** Median over the rounds. */
  readonly perSecond: number
  /** To the first contestant: the median of the ratios within each round. */
  readonly ratio: number
  /** 10th and 90th percentile of the ratio over the rounds. */
  readonly spread: readonly [low: number, high: number]
}

/** What one contestant keeps in memory. */
export interface HeapUse {
  readonly name: string
  /** Everything that was added for a user, its key included. */
  readonly bytesPerUser: number
  /** The text of the key alone, the same for all. */
  readonly keyBytes: number
  /** The difference of the two. */
  readonly besideKeyBytes: number
}

/** What one contestant costs the processors for a decision, and the server's memory for a user. */
export interface ServerUse {
  readonly name: string
  /** Microseconds of the server's processor a decision. */
  readonly redisUs: number
  /** Microseconds of this process's processor a decision. */
  readonly nodeUs: number
  /** Bytes that a new user with one category adds, keys included. */
  readonly bytesPerUser: number
}

/** How long answers of one contestant took. */
export interface Latency {
  readonly name: string
  /** The worst 1 % took as long or longer, in milliseconds. */
  readonly p99Ms: number
}

/** A figure that is to be reached. */
export interface Target {
  readonly name: string
  readonly target: number
  readonly reached: number
  readonly ok: boolean
}

/** What a suite found. */
export interface Findings {
  readonly results: readonly Rate[]
  readonly heap?: readonly HeapUse[]
  readonly server?: readonly ServerUse[]
  readonly latency?: readonly Latency[]
  readonly targets: readonly Target[]
}

/** What is written with `--json`. */
export interface Report extends Findings {
  readonly suite: string
  readonly commit: string
  readonly node: string
}

export function reportOf(suite: string, findings: Findings): Report {
  return { suite, commit: commit(), node: process.version, ...findings }
}

/** A target for a figure that should be large. */
export function atLeast(name: string, target: number, reached: number): Target {
  return { name, target, reached, ok: reached >= target }
}

/** A target for a figure that should be small. */
export function atMost(name: string, target: number, reached: number): Target {
  return { name, target, reached, ok: reached <= target }
}

/** The result of that name. */
export function resultOf<T extends { readonly name: string }>(results: readonly T[], name: string): T {
  const found = results.find((result) => result.name === name)
  if (found === undefined) throw new Error(`no result named ${name}`)
  return found
}

export function print({ results, heap, server, latency, targets }: Findings): void {
  console.table(
    results.map(({ name, perSecond, ratio, spread: [low, high] }) => ({
      name,
      'per second': Math.round(perSecond),
      ratio: rounded(ratio),
      spread: `${rounded(low)} to ${rounded(high)}`,
    })),
  )
  if (heap !== undefined) {
    console.table(
      heap.map(({ name, bytesPerUser, keyBytes, besideKeyBytes }) => ({
        name,
        'bytes per user': Math.round(bytesPerUser),
        'key text': Math.round(keyBytes),
        'beside it': Math.round(besideKeyBytes),
      })),
    )
  }
  if (server !== undefined) {
    console.table(
      server.map(({ name, redisUs, nodeUs, bytesPerUser }) => ({
        name,
        'Redis, us': rounded(redisUs),
        'Node, us': rounded(nodeUs),
        'bytes per user': Math.round(bytesPerUser),
      })),
    )
  }
  if (latency !== undefined) console.table(latency.map(({ name, p99Ms }) => ({ name, 'p99, ms': p99Ms })))
  console.table(targets.map((target) => ({ ...target, reached: rounded(target.reached) })))
}

function rounded(value: number): number {
  return Number(value.toFixed(3))
}

/** The commit at hand, with `-dirty` where files differ from it; `none` outside a repository. */
function commit(): string {
  try {
    const args = ['describe', '--always', '--dirty', '--abbrev=12']
    return execFileSync('git', args, { cwd: import.meta.dirname, encoding: 'utf8', stdio: 'pipe' }).trim()
  } catch {
    return 'none'
  }
}
