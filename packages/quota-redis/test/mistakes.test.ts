import { type Mistake, testMistakes } from '@scoregw/mistakes'
import { createQuota } from '@scoregw/quota'
import { scoreGatewayPolicy } from '@scoregw/quota/score-gateway'
import { Cluster, Redis } from 'ioredis'
import { createClientPool, createCluster, createSentinel } from 'redis'
import { describe } from 'vitest'
import { redisBroadcast, redisFactor, redisOutcomes, redisSettings, redisStore } from '../src/index.ts'
import { leasedRedisStore } from '../src/leases.ts'

/** A value that JavaScript, or a cast, lets through. */
type Anything = never

/** Never connects. */
const client = new Redis({ lazyConnect: true })
const cluster = new Cluster([{ host: '127.0.0.1', port: 1 }], { lazyConnect: true })

/** A client of another library, by the methods that it has. */
class RedisClient {
  readonly isOpen = false
  duplicate(): RedisClient {
    return this
  }
  connect(): Promise<this> {
    return Promise.resolve(this)
  }
}

function make(options: unknown): Mistake['make'] {
  return () => redisStore(options as Anything)
}

const mistakes: readonly Mistake[] = [
  {
    written: 'redisStore()',
    make: make(undefined),
    code: 'invalid_options',
    says: ['redisStore({ client })', 'got nothing'],
  },
  {
    written: 'redisStore(new Redis())',
    make: make(client),
    code: 'invalid_options',
    says: ['write redisStore({ client })'],
  },
  {
    written: 'redisStore(new Cluster(...))',
    make: make(cluster),
    code: 'invalid_options',
    says: ['write redisStore({ client })'],
  },
  {
    written: "redisStore('redis://:secret@localhost')",
    make: make('redis://:secret@localhost'),
    code: 'invalid_options',
    says: ['expected an object, redisStore({ client }), got a string'],
  },
  {
    written: 'redisStore({})',
    make: make({}),
    code: 'invalid_options',
    says: ['client: missing; expected an ioredis client, new Redis(...) or new Cluster(...)'],
  },
  {
    written: 'redisStore({ redis })',
    make: make({ redis: client }),
    code: 'invalid_options',
    says: ['client: missing', 'redis: unknown key; use `client`'],
  },
  {
    written: "redisStore({ client: 'redis://:secret@localhost' })",
    make: make({ client: 'redis://:secret@localhost' }),
    code: 'invalid_options',
    says: ['client: expected an ioredis client', 'got a string'],
  },
  {
    written: 'redisStore({ client: { host, port } })',
    make: make({ client: { host: 'localhost', port: 6379 } }),
    code: 'invalid_options',
    says: ['client: expected an ioredis client', 'got an object without duplicate()'],
  },
  {
    written: 'redisStore({ client: Redis })',
    make: make({ client: Redis }),
    code: 'invalid_options',
    says: ['client: expected an ioredis client', 'got a class: pass an instance'],
  },
  {
    written: 'redisStore({ client: createClient() }), a client of another library',
    make: make({ client: new RedisClient() }),
    code: 'invalid_options',
    says: ['client: expected an ioredis client', 'got an instance of RedisClient without defineCommand()'],
  },
  {
    written: 'redisStore({ client: createCluster() }), of node-redis',
    make: make({ client: createCluster({ rootNodes: [{ url: 'redis://127.0.0.1:1' }] }) }),
    code: 'invalid_options',
    says: [
      'new Cluster(...)',
      'a node-redis client (5.12.1 or later) of one server, createClient(...)',
      'without defineCommand()',
    ],
  },
  {
    written: 'redisStore({ client: createClientPool() }), of node-redis',
    make: make({ client: createClientPool() }),
    code: 'invalid_options',
    says: ['a node-redis client (5.12.1 or later) of one server, createClient(...)', 'without duplicate()'],
  },
  {
    written: 'redisStore({ client: createSentinel() }), of node-redis',
    make: make({
      client: createSentinel({ name: 'main', sentinelRootNodes: [{ host: '127.0.0.1', port: 1 }] }),
    }),
    code: 'invalid_options',
    says: ['a node-redis client (5.12.1 or later) of one server, createClient(...)', 'without duplicate()'],
  },
  {
    written: 'redisStore({ client: createClient().connect() })',
    make: make({ client: new RedisClient().connect() }),
    code: 'invalid_options',
    says: ['client: expected an ioredis client', 'got a promise: await it first'],
  },
  {
    written: "redisStore({ client, keyPrefix: 'app' })",
    make: make({ client, keyPrefix: 'app' }),
    code: 'invalid_options',
    says: ['keyPrefix: unknown key; use `prefix`'],
  },
  {
    written: "redisStore({ client, prefix: 'app{1}' })",
    make: make({ client, prefix: 'app{1}' }),
    code: 'invalid_options',
    says: ['prefix: expected 1 to 64 characters without braces or control characters, got "app{1}"'],
  },
  {
    written: 'redisStore({ client, deadlineMs: 5 })',
    make: make({ client, deadlineMs: 5 }),
    code: 'invalid_options',
    says: ['deadlineMs: expected a whole number of milliseconds from 10 to 60000, got 5'],
  },
  {
    written: 'redisStore({ client, timeout: 100, deadlinMs: 100 })',
    make: make({ client, timeout: 100, deadlinMs: 100 }),
    code: 'invalid_options',
    says: ['timeout: unknown key; use `deadlineMs`', 'deadlinMs: unknown key; did you mean "deadlineMs"?'],
  },
  {
    written: "redisStore({ client, evictionPolicy: 'noeviction' })",
    make: make({ client, evictionPolicy: 'noeviction' }),
    code: 'invalid_options',
    says: ['evictionPolicy: expected "require-noeviction" or "warn", got "noeviction"'],
  },
  {
    written: 'redisStore({ client, logger: console.log })',
    make: make({ client, logger: console.log }),
    code: 'invalid_options',
    says: ['logger: expected a logger or false, got a function'],
  },
  {
    written: 'leasedRedisStore(new Cluster(...))',
    make: () => leasedRedisStore(cluster as Anything),
    code: 'invalid_options',
    says: ['write leasedRedisStore({ client })'],
  },
  {
    written: 'redisSettings(new Redis())',
    make: () => redisSettings(client as Anything),
    code: 'invalid_options',
    says: ['write redisSettings({ client })'],
  },
  {
    written: 'redisBroadcast(new Redis())',
    make: () => redisBroadcast(client as Anything),
    code: 'invalid_options',
    says: ['write redisBroadcast({ client })'],
  },
  {
    written: 'redisFactor({ client, deadlineMs: 50 })',
    make: () => redisFactor({ client, deadlineMs: 50 } as Anything),
    code: 'invalid_options',
    says: ['options of redisFactor()', 'deadlineMs: unknown key; known keys: client, prefix'],
  },
  {
    written: 'redisOutcomes({ client: undefined })',
    make: () => redisOutcomes({ client: undefined } as Anything),
    code: 'invalid_options',
    says: ['options of redisOutcomes()', 'client: missing; expected an ioredis client'],
  },
  {
    written: 'createQuota({ policy, store: new Redis() })',
    make: () => createQuota({ policy: scoreGatewayPolicy(), store: client as Anything }),
    code: 'invalid_options',
    says: ['store: expected a quota store, for example memoryStore() or redisStore({ client })'],
  },
  {
    written: 'createQuota(new Redis())',
    make: () => createQuota(client as Anything),
    code: 'invalid_options',
    says: ['expected an object, createQuota({ policy }), got an instance of'],
  },
]

describe('messages about mistakes', () => {
  testMistakes(mistakes, './mistakes.txt')
})
