import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { findProgram, startOnFreePort } from '@scoregw/server-kit'
import { tempDir } from './gateway.ts'
import { whenDone } from './shared.ts'

const NGINX = {
  names: ['nginx'],
  debianPackage: 'nginx',
  packagedPath: 'usr/sbin/nginx',
  help: 'No nginx for the tests of the proxy: install nginx.',
}
const CONFIG = join(import.meta.dirname, '../../deploy/nginx.conf')

export interface Nginx {
  readonly baseUrl: string
  /** Each request that has ended: `status path bytes`, and `cut` if its client was cut off. */
  log(): string[]
}

/**
 * Starts nginx with the file of the deployment in front of gateways on this machine. Only addresses are replaced: the
 * ports, and the names that a container would resolve.
 *
 * @param gateways `127.0.0.1:8080` of each
 */
export async function startNginx(gateways: readonly string[]): Promise<Nginx> {
  const { path, env } = await findProgram(NGINX)
  const dir = tempDir()
  mkdirSync(join(dir, 'logs'))
  const { port } = await startOnFreePort(async (free) => {
    writeFileSync(join(dir, 'nginx.conf'), configOf(gateways, free))
    const child = spawn(path, ['-p', dir, '-c', 'nginx.conf', '-e', 'stderr'], {
      env,
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    whenDone(() => ended(child))
    let stderr = ''
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text
    })
    while (!(await answers(free))) {
      if (child.exitCode !== null) throw new Error(`nginx ended: ${stderr}`)
    }
  })
  return {
    baseUrl: `http://127.0.0.1:${port}`,
    log: () => readFileSync(join(dir, 'logs/requests'), 'utf8').split('\n').slice(0, -1),
  }
}

function configOf(gateways: readonly string[], port: number): string {
  // Names that are resolved for each request have no memory of failures.
  const servers = gateways.map((address) => `server ${address} max_fails=0;`).join(' ')
  const config = readFileSync(CONFIG, 'utf8')
    .replace(/^resolver .*$/m, `upstream gateways { ${servers} }`)
    .replace(/^map \$server_port .*$/m, 'map $server_port $gateway { default gateways; }')
    .replace('listen 8080;', `listen ${port};`)
    .replace('listen 8081;', 'listen unix:sync.sock;')
    .replace('listen 8082;', 'listen unix:charts.sock;')
  const folders = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${name};`)
  return `
    ${process.getuid?.() === 0 ? 'user root;' : ''}
    daemon off;
    pid nginx.pid;
    events { worker_connections 4096; }
    http {
      ${folders.join('\n')}
      map $request_completion $ended { OK done; default cut; }
      log_format requests '$status $uri $bytes_sent $ended';
      access_log logs/requests requests;
      ${config}
    }`
}

async function answers(port: number): Promise<boolean> {
  const waited = once(request({ port, path: '/healthz' }).end(), 'response')
  return waited.then(
    ([response]) => {
      response.resume()
      return true
    },
    () => false,
  )
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return
  child.kill('SIGTERM')
  await once(child, 'exit')
}
