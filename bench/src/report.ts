import { execFileSync } from 'node:child_process'
import { arch, cpus, loadavg, totalmem, type } from 'node:os'

/** The speed of one contestant. */
export interface Rate {
  readonly name: string
  /** Median over the rounds. */
  readonly perSecond: number
  /** Compared with the first contestant: the median of the ratios within each round. */
  readonly ratio: number
  /** 10th and 90th percentile of the ratio over the rounds. */
  readonly spread: readonly [low: number, high: number]
}

/** One limit compared with one of another library, by processor time. */
export interface Comparison {
  /** The decision that is compared, with its framework or store: `Express, by address`. */
  readonly what: string
  /** The other library, with its version. */
  readonly other: string
  /** Microseconds of the deciding process, per decision or request. */
  readonly otherUs: number
  readonly oursUs: number
  /** The same without a limit. */
  readonly bareUs?: number
  /** Microseconds of the Redis server. */
  readonly otherRedisUs?: number
  readonly oursRedisUs?: number
  /** How many times faster ours is: the median of the rounds. */
  readonly ratio: number
  /** 10th and 90th percentile of the ratio over the rounds. */
  readonly spread: readonly [low: number, high: number]
}

/** How a queue serves callers of one limit. */
export interface QueueUse {
  readonly where: 'memory' | 'redis' | 'slots'
  /** The library, with its version. */
  readonly name: string
  /** Microseconds of the waiting processes per admitted caller. */
  readonly cpuUs: number
  /** How much later than possible the last 1 % started, in milliseconds. */
  readonly lateP99Ms?: number
  /** The used share of the limit, or of the slots. */
  readonly use?: number
  /** Redis scripts per admitted caller. */
  readonly scripts?: number
  /** The wait of the last 1 %, in milliseconds. */
  readonly waitP99Ms?: number
}

/** The memory of one contestant. */
export interface HeapUse {
  readonly name: string
  /** Everything added per user, including its key. */
  readonly bytesPerUser: number
  /** The text of the key, which is the same for all. */
  readonly keyBytes: number
  /** The difference of the two. */
  readonly besideKeyBytes: number
}

/** The effect on callers when a contestant's memory grows by one user per call. */
export interface Growth {
  readonly name: string
  /** The final number of users. */
  readonly users: number
  /** One call in a thousand took this long or longer, in microseconds. */
  readonly p999Us: number
  /** The longest call, in milliseconds, because of growing tables and garbage collection. */
  readonly longestPauseMs: number
}

/** Processor time per decision, and the server's memory per user, for one contestant. */
export interface ServerUse {
  readonly name: string
  /** Microseconds of the server's processor per decision. */
  readonly redisUs: number
  /** Microseconds of this process's processor per decision. */
  readonly nodeUs: number
  /** Bytes that a new user with one category adds, keys included. */
  readonly bytesPerUser: number
}

/** What one decision costs in a fleet: many processes, each with one call in flight, on one server. */
export interface FleetUse {
  readonly server: string
  readonly name: string
  /** Microseconds of the server's processor per decision. */
  readonly serverUs: number
  /** Microseconds of the processes per decision. */
  readonly nodeUs: number
  /** Compared with the server's first contestant: the medians of the ratios within each round. */
  readonly serverRatio: number
  readonly nodeRatio: number
}

/** A decision's cost on a server in instructions, which a busy machine does not change. */
export interface Instructions {
  readonly name: string
  readonly perDecision: number
  /** Decisions that shared a call, on average. */
  readonly decisionsACall: number
}

/** A goal for a figure. */
export interface Target {
  readonly name: string
  readonly target: number
  /** Whether the figure should be at least or at most the target. */
  readonly wanted: 'least' | 'most'
  readonly reached: number
  readonly ok: boolean
  /** Why a known miss happens. */
  readonly because?: string
}

/** The machine that was measured. */
export interface Machine {
  readonly cpu: string
  readonly cores: number
  readonly memoryGiB: number
  readonly system: string
  readonly node: string
  /** How many processes wanted a core in the minute before the suite. Far above 0, others were using the machine. */
  readonly load: number
}

/** The results of a suite. */
export interface Findings {
  readonly compared?: readonly Comparison[]
  readonly results: readonly Rate[]
  /** Ordinary policies, compared with the first contestant of each group. */
  readonly ordinary?: readonly Rate[]
  readonly instructions?: readonly Instructions[]
  readonly heap?: readonly HeapUse[]
  readonly growth?: readonly Growth[]
  readonly server?: readonly ServerUse[]
  readonly fleet?: readonly FleetUse[]
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

/** @param machine its state before the measurements */
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
  return targetOf({ name, target, wanted: 'least', reached, ok: reached >= target }, because)
}

/** A target for a figure that should be small. */
export function atMost(name: string, target: number, reached: number, because?: string): Target {
  return targetOf({ name, target, wanted: 'most', reached, ok: reached <= target }, because)
}

function targetOf(found: Target, because: string | undefined): Target {
  return found.ok || because === undefined ? found : { ...found, because }
}

/** The result of that name. */
export function resultOf<T extends { readonly name: string }>(results: readonly T[], name: string): T {
  const found = results.find((result) => result.name === name)
  if (found === undefined) throw new Error(`no result named ${name}`)
  return found
}

/** The current commit, with `-dirty` if files other than results differ from it; `none` outside a repository. */
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
