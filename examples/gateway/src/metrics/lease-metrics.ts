import type { LeaseReport } from '@scoregw/quota-redis/leases'
import { Counter, Gauge, type Registry } from 'prom-client'

const PREFIX = 'scoregw_quota_lease_'

/** What a process has of leases now. */
const GAUGES = [
  ['held', 'Leases that this process holds', 'outstandingLeases'],
  ['idle_tokens', 'Tokens of its leases that nobody has spent', 'idleTokens'],
  ['overshoot_tokens', 'Most tokens that were seen above a limit of the site', 'overshootTokens'],
] as const

/** What they came to since it began. */
const COUNTERS = [
  ['grants_total', 'Calls of the script of the site', 'grants'],
  ['local_decisions_total', 'Requests that were decided without asking the site', 'localDecisions'],
  ['stranded_tokens_total', 'Tokens that stay debited though nobody spent them', 'strandedTokens'],
  ['counter_losses_total', 'Times that counters of the site were gone before their windows had ended', 'counterLosses'],
] as const satisfies readonly (readonly [string, string, keyof LeaseReport])[]

/** Asked when the metrics are read. */
export function registerLeaseMetrics(leases: () => LeaseReport, registry: Registry): void {
  for (const [name, help, key] of GAUGES) {
    const gauge = new Gauge({
      name: PREFIX + name,
      help,
      registers: [],
      collect() {
        this.set(leases()[key])
      },
    })
    registry.registerMetric(gauge)
  }
  for (const [name, help, key] of COUNTERS) {
    const counter = new Counter({
      name: PREFIX + name,
      help,
      registers: [],
      collect() {
        this.reset()
        this.inc(leases()[key])
      },
    })
    registry.registerMetric(counter)
  }
}
