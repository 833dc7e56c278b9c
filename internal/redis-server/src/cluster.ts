import { freePort } from '@scoregw/server-kit'
import { type RedisServer, startRedis } from './redis-server.ts'
import { until } from './waiting.ts'

export interface RedisClusterOptions {
  /** @default 3 */
  readonly primaries?: number
  /** Per primary. @default 1 */
  readonly replicas?: number
  /** How long a node may be silent before it counts as gone, in milliseconds. @default 1_000 */
  readonly nodeTimeoutMs?: number
  /** Further arguments for every server. */
  readonly args?: readonly string[]
}

export interface ClusterNode extends RedisServer {
  /** The cluster's name for it. */
  readonly id: string
}

/** A cluster on loopback whose nodes can fail, and whose slots can move. */
export interface RedisCluster {
  /** The original primaries, then their replicas. */
  readonly nodes: readonly ClusterNode[]
  /** Addresses for a client. */
  readonly seeds: readonly { readonly host: string; readonly port: number }[]
  /** Resolves to a key's slot. */
  slotOf(key: string): Promise<number>
  /** Resolves to the node that serves a slot, according to the first node that answers, except `leftOut`. */
  primaryOf(slot: number, leftOut?: ClusterNode): Promise<ClusterNode>
  /** Resolves to a replica of a node. */
  replicaOf(primary: ClusterNode): Promise<ClusterNode>
  /** Moves a slot, key by key, while it is in use. */
  migrate(slot: number, to: ClusterNode, between?: () => Promise<void>): Promise<void>
  /** Resolves when every running node agrees that all slots are served. */
  settled(leftOut?: ClusterNode): Promise<void>
  stop(): Promise<void>
}

const SLOTS = 16_384

/** Starts a cluster: about 2 seconds for six nodes. */
export async function startCluster(options: RedisClusterOptions = {}): Promise<RedisCluster> {
  const { primaries = 3, replicas = 1, nodeTimeoutMs = 1_000, args = [] } = options
  const count = primaries * (1 + replicas)
  const started = await Promise.allSettled(Array.from({ length: count }, () => startNode(nodeTimeoutMs, args)))
  const nodes = started.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []))
  const stop = async () => void (await Promise.all(nodes.map((node) => node.stop())))
  try {
    const failed = started.find((each) => each.status === 'rejected')
    if (failed !== undefined) throw failed.reason
    const cluster = clusterOf(nodes, stop)
    await join(nodes, primaries)
    await cluster.settled()
    return cluster
  } catch (error) {
    await stop()
    throw error
  }
}

interface Starting extends ClusterNode {
  readonly busPort: number
}

async function startNode(nodeTimeoutMs: number, args: readonly string[]): Promise<Starting> {
  const busPort = await freePort()
  const server = await startRedis({
    args: [
      ...['--cluster-enabled', 'yes', '--cluster-port', String(busPort), '--cluster-node-timeout', `${nodeTimeoutMs}`],
      // A replica may take over regardless of the age of its copy, as in most clusters, and starts to copy immediately.
      ...['--cluster-replica-validity-factor', '0', '--repl-diskless-sync', 'yes', '--repl-diskless-sync-delay', '0'],
      ...args,
    ],
  })
  return { ...server, id: String(await server.cli('CLUSTER', 'MYID')), busPort }
}

async function join(nodes: readonly Starting[], primaries: number): Promise<void> {
  const [first] = nodes as [Starting]
  for (const [index, node] of nodes.entries()) {
    await node.cli('CLUSTER', 'SET-CONFIG-EPOCH', String(index + 1))
    if (node !== first) await node.cli('CLUSTER', 'MEET', '127.0.0.1', String(first.port), String(first.busPort))
  }
  for (const [index, node] of nodes.slice(0, primaries).entries()) {
    const from = Math.floor((index * SLOTS) / primaries)
    const to = Math.floor(((index + 1) * SLOTS) / primaries) - 1
    await node.cli('CLUSTER', 'ADDSLOTSRANGE', String(from), String(to))
  }
  await Promise.all(
    nodes.map((node) => until('all nodes have met', async () => (await view(node)).length === nodes.length)),
  )
  for (const [index, node] of nodes.slice(primaries).entries()) {
    const primary = nodes[index % primaries] as Starting
    await node.cli('CLUSTER', 'REPLICATE', primary.id)
  }
  await Promise.all(nodes.slice(primaries).map((node) => until('replicas have their copies', () => isCopying(node))))
  const knowsReplicas = async (node: Starting): Promise<boolean> =>
    (await view(node)).filter(({ primaryId }) => primaryId !== '-').length === nodes.length - primaries
  await Promise.all(nodes.map((node) => until('all nodes know the replicas', () => knowsReplicas(node))))
}

async function isCopying(node: RedisServer): Promise<boolean> {
  return /master_link_status:up/.test(String(await node.cli('INFO', 'replication')))
}

interface Seen {
  readonly id: string
  readonly flags: readonly string[]
  readonly primaryId: string
  readonly slots: readonly string[]
}

/** The cluster as one node sees it. */
async function view(node: RedisServer): Promise<Seen[]> {
  const lines = String(await node.cli('CLUSTER', 'NODES'))
    .trim()
    .split('\n')
  return lines.map((line) => {
    const [id = '', , flags = '', primaryId = '', , , , , ...slots] = line.split(' ')
    return { id, flags: flags.split(','), primaryId, slots }
  })
}

function serves({ flags, slots }: Seen, slot: number): boolean {
  if (!flags.includes('master') || flags.includes('fail')) return false
  return slots.some((range) => {
    const [from = SLOTS, to = from] = range.split('-').map(Number)
    return slot >= from && slot <= to
  })
}

function clusterOf(nodes: readonly ClusterNode[], stop: () => Promise<void>): RedisCluster {
  const nodeOf = (seen: Seen | undefined): ClusterNode | undefined => nodes.find(({ id }) => id === seen?.id)

  async function firstView(leftOut?: ClusterNode): Promise<Seen[]> {
    for (const node of nodes) {
      if (node === leftOut) continue
      const seen = await view(node).catch(() => undefined)
      if (seen !== undefined) return seen
    }
    throw new Error('No node of the cluster answers')
  }

  async function migrate(slot: number, to: ClusterNode, between?: () => Promise<void>): Promise<void> {
    const from = await cluster.primaryOf(slot)
    if (from === to) return
    await to.cli('CLUSTER', 'SETSLOT', String(slot), 'IMPORTING', from.id)
    await from.cli('CLUSTER', 'SETSLOT', String(slot), 'MIGRATING', to.id)
    for (;;) {
      await between?.()
      const [key] = (await from.cli('CLUSTER', 'GETKEYSINSLOT', String(slot), '1')) as string[]
      if (key === undefined) break
      await from.cli('MIGRATE', '127.0.0.1', String(to.port), key, '0', '5000')
    }
    for (const node of [to, from]) await node.cli('CLUSTER', 'SETSLOT', String(slot), 'NODE', to.id)
  }

  const cluster: RedisCluster = {
    nodes,
    seeds: nodes.map(({ port }) => ({ host: '127.0.0.1', port })),
    slotOf: async (key) => Number(await (nodes[0] as ClusterNode).cli('CLUSTER', 'KEYSLOT', key)),
    async primaryOf(slot, leftOut) {
      const seen = await firstView(leftOut)
      const found = nodeOf(seen.find((each) => serves(each, slot)))
      if (found === undefined) throw new Error(`No node serves slot ${slot}`)
      return found
    },
    async replicaOf(primary) {
      const seen = await firstView(primary)
      const found = nodeOf(seen.find((each) => each.primaryId === primary.id && !each.flags.includes('fail')))
      if (found === undefined) throw new Error('The node has no replica')
      return found
    },
    migrate,
    async settled(leftOut) {
      const agreed = nodes.filter((node) => node !== leftOut)
      const isOk = async (node: ClusterNode) => /cluster_state:ok/.test(String(await node.cli('CLUSTER', 'INFO')))
      await Promise.all(agreed.map((node) => until('the cluster is whole', () => isOk(node))))
    },
    stop,
  }
  return cluster
}
