import type { Redis } from 'ioredis'

export async function scriptCalls(admin: Redis): Promise<number> {
  const calls = /^cmdstat_evalsha:calls=(\d+)/m.exec(await admin.info('commandstats'))?.[1]
  if (calls === undefined) throw new Error('the server reports no script calls')
  return Number(calls)
}

export async function redisCpuUs(admin: Redis): Promise<number> {
  const info = await admin.info('cpu')
  return (infoNumber(info, 'used_cpu_sys') + infoNumber(info, 'used_cpu_user')) * 1e6
}

export async function usedBytes(admin: Redis): Promise<number> {
  return infoNumber(await admin.info('memory'), 'used_memory')
}

function infoNumber(info: string, name: string): number {
  const found = new RegExp(`^${name}:([\\d.]+)`, 'm').exec(info)
  if (found === null) throw new Error(`the server reports no ${name}`)
  return Number(found[1])
}
