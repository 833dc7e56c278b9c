import { counted, lasting, percent } from '../text.ts'
import { fault, ok, type ServerFinding, warning } from './finding.ts'

/** Fields of Redis' `INFO`. */
export type ServerInfo = Readonly<Record<string, string>>

export function parseInfo(text: string): ServerInfo {
  const pairs = text.split(/\r?\n/).flatMap((line) => {
    const at = line.indexOf(':')
    return at > 0 && !line.startsWith('#') ? [[line.slice(0, at), line.slice(at + 1)] as const] : []
  })
  return Object.fromEntries(pairs)
}

/** Judges from a server's INFO whether it is suitable for counters. */
export function judgeInfo(info: ServerInfo): ServerFinding[] {
  return [version(info), role(info), eviction(info), memory(info), persistence(info), cluster(info)].flatMap(
    (each) => each ?? [],
  )
}

function version(info: ServerInfo): ServerFinding {
  const isValkey = info.valkey_version !== undefined
  const version = info.valkey_version ?? info.redis_version ?? 'unknown'
  const [major = 0, minor = 0] = (info.redis_version ?? '').split('.').map(Number)
  const text = `${isValkey ? 'Valkey' : 'Redis'} ${version}, up for ${lasting(Number(info.uptime_in_seconds ?? 0) * 1_000)}`
  if (isValkey || major > 6 || (major === 6 && minor >= 2)) return ok('version', text)
  return fault('version', `${text}: too old`, 'use Redis 6.2 or later, or Valkey')
}

function role(info: ServerInfo): ServerFinding {
  if (info.role !== 'slave') return ok('role', `primary, ${info.connected_slaves ?? 0} replicas`)
  return fault('role', 'a replica: it cannot charge', `connect to its primary, ${info.master_host}:${info.master_port}`)
}

function eviction(info: ServerInfo): ServerFinding {
  const policy = info.maxmemory_policy
  if (policy === 'noeviction') return ok('eviction', 'noeviction')
  return policy === undefined
    ? warning('eviction', 'maxmemory-policy is unknown', 'make sure that it is noeviction')
    : fault(
        'eviction',
        `${policy}: Redis may evict counters when it is full, and limits are then exceeded without notice`,
        'CONFIG SET maxmemory-policy noeviction, and write it into the configuration',
      )
}

const NEARLY_FULL = 0.8

function memory(info: ServerInfo): ServerFinding {
  const used = Number(info.used_memory ?? 0)
  const most = Number(info.maxmemory ?? 0)
  const text = `${counted(used / 1_048_576)} MiB used`
  if (most === 0) return ok('memory', `${text}, without a bound`)
  const share = `${text} of ${counted(most / 1_048_576)} (${percent(used, most)})`
  return used < most * NEARLY_FULL
    ? ok('memory', share)
    : warning('memory', share, 'raise maxmemory: a full server refuses to count')
}

function persistence(info: ServerInfo): ServerFinding {
  if (info.aof_enabled === '1') {
    return info.aof_last_write_status === 'err'
      ? fault('persistence', 'the append-only file cannot be written', 'check its disk')
      : ok('persistence', 'append-only file')
  }
  if (info.rdb_last_bgsave_status === 'err') {
    return fault('persistence', 'the last snapshot failed: it may refuse to write', 'check its disk')
  }
  const savedAt = Number(info.rdb_last_save_time ?? 0) * 1_000
  return warning(
    'persistence',
    `only snapshots${savedAt > 0 ? `, the last one of ${new Date(savedAt).toISOString().slice(0, 19)}Z` : ''}: a crash loses everything counted since`,
    'appendonly yes, if counters have to outlive a crash',
  )
}

function cluster(info: ServerInfo): ServerFinding | undefined {
  if (info.cluster_enabled !== '1') return undefined
  return info.cluster_state === undefined || info.cluster_state === 'ok'
    ? ok('cluster', 'a node of a cluster')
    : fault('cluster', `the cluster's state is ${info.cluster_state}`, 'see CLUSTER INFO on its nodes')
}
