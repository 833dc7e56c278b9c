import { execFileSync } from 'node:child_process'
import { arch, cpus, loadavg, totalmem, type } from 'node:os'

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

/** One limit compared with one of another library, by processor time. */
export interface Comparison {
  /** What is decided, in which framework or on which store: `Express, by address`. */
  readonly what: string
  /** The other library, with its version. */
  readonly other: string
  /** Microseconds of the process that decides, for a decision or a request. */
  readonly otherUs: number
  readonly oursUs: number
  /** The same without any limit. */
  readonly bareUs?: number
  /** Microseconds of the Redis server. */
  readonly otherRedisUs?: number
  readonly oursRedisUs?: number
  /** How often as fast ours is: the median of the rounds. */
  readonly ratio: number
  /** 10th and 90th percentile of the ratio over the rounds. */
  readonly spread: readonly [low: number, high: number]
}

/** How a queue serves callers of one limit. */
export interface QueueUse {
  readonly where: 'memory' | 'redis' | 'slots'
  /** The library, with its version. */
  readonly name: string
  /** Microseconds of the processes that wait, for each that is admitted. */
  readonly cpuUs: number
  /** How much later than possible the last 1 % started, in milliseconds. */
  readonly lateP99Ms?: number
  /** Which share of the limit, or of the slots, was used. */
  readonly use?: number
  /** Scripts of Redis for each that is admitted. */
  readonly scripts?: number
  /** The last 1 % waited so long, in milliseconds. */
  readonly waitP99Ms?: number
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

/** What it is like for callers when a contestant's memory grows by one user with each call. */
export interface Growth {
  readonly name: string
  /** How many there are at last. */
  readonly users: number
  /** One call in a thousand took so many microseconds, or more. */
  readonly p999Us: number
  /** The longest call, in milliseconds: tables that double, and garbage that is collected. */
  readonly longestPauseMs: number
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

/** What one script call costs under a load. */
export interface CallCost {
  readonly callers: number
  /** Decisions that shared a call, on average. */
  readonly decisions: number
  /** Microseconds of the server's processor, and of this process's. */
  readonly serverUs: number
  readonly nodeUs: number
  /** Bytes to the server and back, for each decision. */
  readonly sentBytes: number
  readonly receivedBytes: number
}

/** What a decision costs a server, in instructions: the same on a busy machine. */
export interface Instructions {
  readonly name: string
  readonly perDecision: number
  /** Decisions that shared a call, on average. */
  readonly decisionsACall: number
}

/** A load that was simulated, and what came of it. */
export interface SimulatedLoad {
  readonly name: string
  readonly perSecond: number
  readonly admittedPerSecond: number
  readonly processes: number
  readonly primaries: number
  readonly p50Ms: number
  readonly p99Ms: number
  /** Shares of their time that the busiest worked. */
  readonly busiestPrimary: number
  readonly busiestProcess: number
  readonly decisionsACall: number
  readonly grantsPerSecond: number
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
  /** Whether it is to be so much at least, or at most. */
  readonly wanted: 'least' | 'most'
  readonly reached: number
  readonly ok: boolean
  /** Where it is missed and that is known: why. */
  readonly because?: string
}

/** What figures were found on. */
export interface Machine {
  readonly cpu: string
  readonly cores: number
  readonly memoryGiB: number
  readonly system: string
  readonly node: string
  /** How many processes wanted a core when the suite began, over a minute: far above 0, others were at work. */
  readonly load: number
}

/** What a suite found. */
export interface Findings {
  readonly compared?: readonly Comparison[]
  readonly results: readonly Rate[]
  /** Policies as services have them, to the contestant that each group of them begins with. */
  readonly ordinary?: readonly Rate[]
  readonly instructions?: readonly Instructions[]
  readonly heap?: readonly HeapUse[]
  readonly growth?: readonly Growth[]
  readonly server?: readonly ServerUse[]
  readonly latency?: readonly Latency[]
  readonly calls?: readonly CallCost[]
  readonly loads?: readonly SimulatedLoad[]
  readonly queues?: readonly QueueUse[]
  readonly targets: readonly Target[]
}

/** The document that `--json` writes. */
export interface Report extends Findings {
  readonly suite: string
  readonly commit: string
  /** The day, as `2026-01-31`. */
  readonly date: string
  readonly machine: Machine
}

/** @param machine as it was before anything was measured */
export function reportOf(suite: string, machine: Machine, findings: Findings): Report {
  return { suite, commit: commit(), date: new Date().toISOString().slice(0, 10), machine, ...findings }
}

export function machineNow(): Machine {
  const [cpu] = cpus()
  return {
    cpu: cpu?.model.trim() ?? 'unknown',
    cores: cpus().length,
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    system: `${type()} ${arch()}`,
    node: process.version,
    load: Number(loadavg()[0]?.toFixed(2)),
  }
}

/** A target for a figure that should be large. */
export function atLeast(name: string, target: number, reached: number, because?: string): Target {
  return targetOf(name, target, 'least', reached, reached >= target, because)
}

/** A target for a figure that should be small. */
export function atMost(name: string, target: number, reached: number, because?: string): Target {
  return targetOf(name, target, 'most', reached, reached <= target, because)
}

function targetOf(
  name: string,
  target: number,
  wanted: Target['wanted'],
  reached: number,
  ok: boolean,
  because: string | undefined,
): Target {
  const found = { name, target, wanted, reached, ok }
  return ok || because === undefined ? found : { ...found, because }
}

/** The result of that name. */
export function resultOf<T extends { readonly name: string }>(results: readonly T[], name: string): T {
  const found = results.find((result) => result.name === name)
  if (found === undefined) throw new Error(`no result named ${name}`)
  return found
}

/** The commit at hand, with `-dirty` where files differ from it that are no results; `none` outside a repository. */
function commit(): string {
  const git = (...args: string[]): string =>
    execFileSync('git', args, { cwd: import.meta.dirname, encoding: 'utf8', stdio: 'pipe' }).trim()
  try {
    const changed = git('status', '--porcelain', '--untracked-files=no', '--', ':/', ':(top,exclude)bench/results')
    return `${git('rev-parse', '--short=12', 'HEAD')}${changed === '' ? '' : '-dirty'}`
  } catch {
    return 'none'
  }
}
