import { rounded } from './print.ts'
import type { Rate, Report } from './report.ts'

type Cell = string | number

/** The tables that a page can show, by their names in the page. */
export const TABLES: Readonly<Record<string, (report: Report) => string>> = {
  requests: ({ compared = [] }) =>
    table(
      ['', 'without limits, us', 'its own limiter', 'us', 'ours, us', 'as fast', '10 % to 90 %'],
      compared
        .filter(({ bareUs }) => bareUs !== undefined)
        .map(({ what, other, bareUs = 0, otherUs, oursUs, ratio, spread }) => {
          return [what, digits(bareUs), other, digits(otherUs), digits(oursUs), times(ratio), rangeOf(spread)]
        }),
    ),
  decisions: ({ compared = [] }) =>
    table(
      ['', 'other library', 'ns', 'ours, ns', 'as fast', '10 % to 90 %'],
      compared
        .filter(({ bareUs, oursRedisUs }) => bareUs === undefined && oursRedisUs === undefined)
        .map(({ what, other, otherUs, oursUs, ratio, spread }) => {
          return [what, other, digits(otherUs * 1_000), digits(oursUs * 1_000), times(ratio), rangeOf(spread)]
        }),
    ),
  servers: ({ compared = [] }) =>
    table(
      ['', 'other library', 'its Node, us', 'its Redis', 'our Node, us', 'our Redis', 'as fast', '10 % to 90 %'],
      compared
        .filter(({ oursRedisUs }) => oursRedisUs !== undefined)
        .map(({ what, other, otherUs, oursUs, otherRedisUs = 0, oursRedisUs = 0, ratio, spread }) => {
          const us = [otherUs, otherRedisUs, oursUs, oursRedisUs].map(digits)
          return [what, other, ...us, times(ratio), rangeOf(spread)]
        }),
    ),
  speeds: ({ results }) =>
    table(
      ['', 'per second'],
      results
        .filter(({ name }) => name.startsWith('quota'))
        .map(({ name, perSecond }) => [name, Math.round(perSecond).toLocaleString('en')]),
    ),
  results: ({ results }) => ratioTable(results),
  ordinary: ({ ordinary }) => (ordinary === undefined ? 'Not measured yet.' : ratioTable(ordinary)),
  instructions: ({ instructions = [] }) =>
    table(
      ['', 'instructions a decision', 'decisions a call'],
      instructions.map(({ name, perDecision, decisionsACall }) => [
        name,
        Math.round(perDecision),
        decisionsACall.toFixed(1),
      ]),
    ),
  heap: ({ heap = [] }) =>
    table(
      ['', 'bytes a user beside the key'],
      heap.map(({ name, besideKeyBytes }) => [name, Math.round(besideKeyBytes)]),
    ),
  growth: ({ growth = [] }) =>
    table(
      ['', 'users', '99.9 % of calls, us', 'longest call, ms'],
      growth.map(({ name, users, p999Us, longestPauseMs }) => [
        name,
        users,
        p999Us.toFixed(1),
        Math.round(longestPauseMs),
      ]),
    ),
  server: ({ server = [] }) =>
    table(
      ['', 'Redis, us a decision', 'Node, us a decision', 'bytes a user and category'],
      server.map(({ name, redisUs, nodeUs, bytesPerUser }) => [
        name,
        redisUs.toFixed(1),
        nodeUs.toFixed(1),
        Math.round(bytesPerUser),
      ]),
    ),
  fleet: ({ fleet = [] }) =>
    table(
      ['', '', 'server, decisions a second of CPU', 'of the first', 'Node, decisions a second of CPU', 'of the first'],
      fleet.map(({ server, name, serverUs, nodeUs, serverRatio, nodeRatio }) => [
        ...[server, name, Math.round(1e6 / serverUs).toLocaleString('en'), times(1 / serverRatio)],
        ...[Math.round(1e6 / nodeUs).toLocaleString('en'), times(1 / nodeRatio)],
      ]),
    ),
  queues: ({ queues = [] }) =>
    table(
      ['', 'us a caller', 'p99 beyond the ideal, ms'],
      queues
        .filter(({ where }) => where === 'memory')
        .map(({ name, cpuUs, lateP99Ms = 0 }) => [name, digits(cpuUs), Math.round(lateP99Ms)]),
    ),
  sharedQueues: ({ queues = [] }) =>
    table(
      ['', 'use of the limit', 'scripts an admission', 'p99 of the wait, s', 'us an admission'],
      queues
        .filter(({ where }) => where !== 'memory')
        .map(({ where, name, use = 0, scripts = 0, waitP99Ms = 0, cpuUs }) => [
          where === 'slots' ? `20 slots, ${name}` : name,
          use.toFixed(2),
          scripts.toFixed(2),
          (waitP99Ms / 1_000).toFixed(1),
          digits(cpuUs),
        ]),
    ),
  goals: ({ targets }) =>
    table(
      ['goal', 'wanted', 'reached', ''],
      targets.map(({ name, target, wanted, reached, ok, because }) => [
        name,
        `at ${wanted} ${target}`,
        rounded(reached),
        ok ? 'reached' : ['missed', because].filter(Boolean).join(': '),
      ]),
    ),
  machine({ machine, commit, date }) {
    const { cpu, cores, memoryGiB, system, node, load } = machine
    return `${date}, commit ${commit}: ${cpu}, ${cores} cores, ${memoryGiB} GiB, ${system}, Node ${node}; load at the start ${load}.`
  },
}

function ratioTable(rates: readonly Rate[]): string {
  return table(
    ['', 'ratio', '10 % to 90 %'],
    rates.map(({ name, ratio, spread: [low, high] }) => [name, rounded(ratio), `${rounded(low)} to ${rounded(high)}`]),
  )
}

/** Three digits are as precise as the times. */
function digits(value: number): string {
  return value >= 100 ? value.toFixed(0) : String(Number(value.toPrecision(3)))
}

function times(ratio: number): string {
  return `${ratio.toFixed(2)} ×`
}

function rangeOf([low, high]: Rate['spread']): string {
  return `${low.toFixed(2)} to ${high.toFixed(2)}`
}

/** A Markdown table, formatted as Markdown formatters do. */
export function table(head: readonly Cell[], rows: readonly (readonly Cell[])[]): string {
  const lines = [head, ...rows].map((row) => row.map(String))
  const widths = head.map((_, column) => Math.max(3, ...lines.map((line) => line[column]?.length ?? 0)))
  const [first, ...rest] = lines.map(
    (line) => `| ${line.map((text, column) => text.padEnd(widths[column] ?? 0)).join(' | ')} |`,
  )
  const rule = `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`
  return [first, rule, ...rest].join('\n')
}
