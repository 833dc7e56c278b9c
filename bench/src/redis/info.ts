import type { Redis } from 'ioredis'

/** How many scripts ran, by all commands that libraries use. */
export async function scriptCalls(admin: Redis): Promise<number> {
  const calls = (await admin.info('commandstats')).matchAll(/^cmdstat_(?:evalsha|eval|fcall):calls=(\d+)/gm)
  return [...calls].reduce((sum, [, count]) => sum + Number(count), 0)
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
