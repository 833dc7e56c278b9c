import { describe, expect, it } from 'vitest'
import { judgeClock, judgeLatency } from '../src/doctor/measures.ts'
import { judgeInfo, parseInfo } from '../src/doctor/redis-server.ts'

/** INFO of a server that is set up well. */
const GOOD = {
  redis_version: '7.0.15',
  uptime_in_seconds: '60',
  role: 'master',
  connected_slaves: '1',
  maxmemory_policy: 'noeviction',
  used_memory: '1048576',
  maxmemory: '0',
  aof_enabled: '1',
  aof_last_write_status: 'ok',
  rdb_last_bgsave_status: 'ok',
} as const

/** The findings for a server that differs in some fields. */
function found(fields: Readonly<Record<string, string>>): string[] {
  const text = Object.entries({ ...GOOD, ...fields }).map(([name, value]) => `${name}:${value}`)
  const findings = judgeInfo(parseInfo(['# Server', ...text].join('\r\n')))
  return findings
    .filter(({ level }) => level !== 'ok')
    .map(({ level, about, message }) => `${level} ${about}: ${message}`)
}

describe('Redis INFO as doctor judges it', () => {
  it.each<[string, Record<string, string>, RegExp[]]>([
    ['nothing wrong', {}, []],
    ['the oldest that will do', { redis_version: '6.2.0' }, []],
    ['one older', { redis_version: '6.0.16' }, [/^fault version: Redis 6.0.16, .*: too old$/]],
    ['a Valkey, whatever Redis it says to be', { redis_version: '5.0.0', valkey_version: '8.0.1' }, []],
    ['a replica', { role: 'slave', master_host: 'h', master_port: '1' }, [/^fault role: a replica/]],
    ['eviction', { maxmemory_policy: 'allkeys-lru' }, [/^fault eviction: allkeys-lru/]],
    ['79 % full', { maxmemory: '1327306' }, []],
    ['80 % full', { maxmemory: '1310720' }, [/^warning memory: .*80/]],
    ['a file that cannot be written', { aof_last_write_status: 'err' }, [/^fault persistence: the append-only file/]],
    ['only snapshots', { aof_enabled: '0' }, [/^warning persistence: only snapshots/]],
    ['no snapshots either', { aof_enabled: '0', rdb_last_bgsave_status: 'err' }, [/^fault persistence: the last/]],
    ['a cluster', { cluster_enabled: '1', cluster_state: 'ok' }, []],
    [
      'a broken cluster',
      { cluster_enabled: '1', cluster_state: 'fail' },
      [/^fault cluster: the cluster's state is fail/],
    ],
  ])('doctor judges the fields of %s', (_, fields, expected) => {
    expect(found(fields)).toEqual(expected.map((each) => expect.stringMatching(each) as string))
  })
})

describe('the latency and clock of a Redis', () => {
  it('the latency is slow if the median is at least a third of the usual deadline', () => {
    const times = (ms: number): number[] => Array.from({ length: 50 }, (_, index) => (index < 20 ? 1 : ms))
    expect(judgeLatency(times(49)).level).toBe('ok')
    expect(judgeLatency(times(50))).toMatchObject({
      level: 'warning',
      message: expect.stringContaining('median 50.00'),
    })
  })

  it.each([
    ['as of this machine', 10_000, 'ok', 'to the second'],
    ['ahead, but not for certain', 11_050, 'ok', 'to the second'],
    ['ahead', 15_100, 'warning', 'ahead of this machine'],
    ['behind', 5_000, 'warning', 'behind this machine'],
  ] as const)('a server clock %s is judged', (_, at, level, words) => {
    expect(judgeClock(at, 10_000, 10_200)).toMatchObject({ level, message: expect.stringContaining(words) })
  })
})
