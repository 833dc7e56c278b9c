import { spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface RedisServer {
  readonly port: number
  stop(): Promise<void>
}

/** Starts `redis-server` (or what `REDIS_SERVER_BIN` names) on a free loopback port, without persistence. */
export async function startRedis(): Promise<RedisServer> {
  const dir = await mkdtemp(join(tmpdir(), 'bench-redis-'))
  const port = await freePort()
  const args = ['--port', String(port), '--bind', '127.0.0.1', '--dir', dir, '--save', '', '--appendonly', 'no']
  const server = spawn(process.env.REDIS_SERVER_BIN ?? 'redis-server', args, { stdio: ['ignore', 'pipe', 'inherit'] })
  const gone = new Promise<void>((resolve) => server.once('close', () => resolve()))
  process.once('exit', () => server.kill('SIGKILL'))
  await new Promise<void>((resolve, reject) => {
    let output = ''
    server.stdout.on('data', (data: Buffer) => {
      output = (output + data.toString()).slice(-10_000)
      if (output.includes('Ready to accept connections')) resolve()
    })
    server.once('error', reject)
    server.once('exit', () => reject(new Error(`redis-server ended while starting:\n${output}`)))
  })
  return {
    port,
    async stop() {
      server.kill('SIGKILL')
      await gone
      await rm(dir, { recursive: true, force: true })
    },
  }
}

async function freePort(): Promise<number> {
  const probe = createServer()
  await new Promise<void>((resolve) => probe.listen(0, '127.0.0.1', resolve))
  const { port } = probe.address() as AddressInfo
  await new Promise((resolve) => probe.close(resolve))
  return port
}
