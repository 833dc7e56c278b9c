import type { Comparison, Findings, Target } from './report.ts'

/** Prints findings as tables on standard output. */
export function print(findings: Findings): void {
  const { compared, results, ordinary, instructions, heap, growth, server, latency, calls, loads, queues, targets } =
    findings
  if (compared !== undefined) printCompared(compared)
  if (results.length > 0) printRates(results)
  if (ordinary !== undefined) printRates(ordinary)
  if (instructions !== undefined) {
    console.table(
      instructions.map(({ name, perDecision, decisionsACall }) => ({
        name,
        'instructions a decision': Math.round(perDecision),
        'decisions a call': rounded(decisionsACall),
      })),
    )
  }
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
  if (growth !== undefined) console.table(growth)
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
  if (calls !== undefined) console.table(calls)
  if (loads !== undefined) console.table(loads)
  if (queues !== undefined) console.table(queues)
  printTargets(targets)
}

function printRates(results: Findings['results']): void {
  console.table(
    results.map(({ name, perSecond, ratio, spread: [low, high] }) => ({
      name,
      'per second': Math.round(perSecond),
      ratio: rounded(ratio),
      spread: `${rounded(low)} to ${rounded(high)}`,
    })),
  )
}

function printCompared(compared: readonly Comparison[]): void {
  console.table(
    compared.map(({ what, other, bareUs, otherUs, oursUs, otherRedisUs, oursRedisUs, ratio, spread: [low, high] }) => ({
      what,
      other,
      'bare, us': bareUs && rounded(bareUs),
      'other, us': rounded(otherUs),
      'ours, us': rounded(oursUs),
      'other, Redis': otherRedisUs && rounded(otherRedisUs),
      'ours, Redis': oursRedisUs && rounded(oursRedisUs),
      ratio: rounded(ratio),
      spread: `${rounded(low)} to ${rounded(high)}`,
    })),
  )
}

/** Prints each goal in a line: reached or missed, and why. */
export function printTargets(targets: readonly Target[]): void {
  for (const target of targets) console.log(lineOf(target))
}

function lineOf({ name, target, wanted, reached, ok, because }: Target): string {
  const reason = because === undefined ? '' : `\n          ${because}`
  return `${ok ? 'reached' : 'missed '} ${name}: ${rounded(reached)}, wanted at ${wanted} ${target}${reason}`
}

/** Rounds to three decimals. */
export function rounded(value: number): number {
  return Number(value.toFixed(3))
}
