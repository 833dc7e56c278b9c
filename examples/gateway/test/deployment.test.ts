import { execFile } from 'node:child_process'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { join, relative } from 'node:path'
import { promisify } from 'node:util'
import { DCLinter } from 'dclint'
import { validate } from 'dockerfile-utils'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { DEFAULTS, loadConfig, NAMES } from '../src/config/config.ts'
import { buildConsole } from '../src/console/build-console.ts'

const EXAMPLE = join(import.meta.dirname, '..')
const ROOT = join(EXAMPLE, '../..')
const DEPLOY = join(EXAMPLE, 'deploy')
const read = (name: string): string => readFileSync(join(DEPLOY, name), 'utf8')

interface Compose {
  readonly services: Record<
    string,
    { readonly environment?: Record<string, string>; readonly ports?: readonly string[] }
  >
}

describe('the Dockerfile', () => {
  const text = read('Dockerfile')

  it('the Dockerfile passes its linter', () => expect(validate(text)).toEqual([]))

  it('the Dockerfile’s command names existing files and its ports are the configuration’s', () => {
    const command = /^CMD (\[.*\])$/m.exec(text)?.[1] ?? '[]'
    const files = (JSON.parse(command) as string[])
      .map((each) => each.replace(/^--import=/, ''))
      .filter((each) => /\.(?:ts|mjs)$/.test(each))
    expect(files).toHaveLength(2)
    for (const file of files) expect(existsSync(join(EXAMPLE, file))).toBe(true)
    const ports = [DEFAULTS.PORT, DEFAULTS.SYNC_PORT, DEFAULTS.CHARTS_PORT]
    expect(/^EXPOSE (.*)$/m.exec(text)?.[1]?.split(' ')).toEqual(ports)
  })

  it('the Dockerfile copies only named sources and no file with secrets', () => {
    const sources = [...text.matchAll(/^COPY (?!--from)(.*) \S+$/gm)].flatMap(([, names = '']) => names.split(' '))
    expect(sources).toContain('examples/gateway/src')
    for (const source of sources) expect([source, existsSync(join(ROOT, source))]).toEqual([source, true])
    // `COPY . .` would take everything except ignored files.
    const folders = sources.filter((source) => statSync(join(ROOT, source)).isDirectory())
    for (const secret of ['deploy/.env', '.data/gateway/gateway.sqlite', '.env']) {
      const path = join('examples/gateway', secret)
      expect([secret, folders.filter((folder) => !relative(folder, path).startsWith('..'))]).toEqual([secret, []])
    }
    const ignored = readFileSync(join(ROOT, '.dockerignore'), 'utf8').split('\n')
    expect(ignored).toEqual(expect.arrayContaining(['**/.env', '**/.env.*', '**/.data', '**/node_modules']))
  })

  it('the Dockerfile installs with the repository’s version of pnpm and everything the gateway needs', () => {
    const { scripts } = JSON.parse(readFileSync(join(EXAMPLE, '../../package.json'), 'utf8'))
    expect(scripts.start).toMatch(/^node scripts\/pnpm.mjs /)
    // Without hoisting, the packages' sources do not find their peers.
    expect(text).toContain('RUN node scripts/pnpm.mjs install --frozen-lockfile --prod --shamefully-hoist')
    const { dependencies } = JSON.parse(readFileSync(join(EXAMPLE, 'package.json'), 'utf8'))
    expect(dependencies).toHaveProperty('tsx')
  })

  it('the Dockerfile builds the console as a start would', async () => {
    const [, folder = '', command = ''] = /^RUN cd (\S+) && node (.*)$/m.exec(text) ?? []
    expect(text.indexOf('RUN cd')).toBeGreaterThan(text.indexOf('scripts/pnpm.mjs install'))
    expect(text.indexOf('RUN cd')).toBeLessThan(text.lastIndexOf('FROM '))
    expect(join(EXAMPLE, '../..', folder)).toBe(EXAMPLE)
    await promisify(execFile)(process.execPath, command.split(' '), { cwd: EXAMPLE })
    // A gateway that starts afterwards finds it.
    const built: string[] = []
    await buildConsole((line) => built.push(line))
    expect(built).toEqual([])
  })
})

describe('the compose file', () => {
  const text = read('compose.yaml')
  const { services } = parse(text) as Compose
  const environment = services.gateway?.environment ?? {}

  it('the compose file passes its linter', () => {
    // The quotes that the formatter makes.
    const rules = { 'require-quotes-in-ports': [2, { quoteType: 'double' }] } as const
    const results = new DCLinter({ rules, quiet: false, debug: false, exclude: [] }).lintFiles(
      [join(DEPLOY, 'compose.yaml')],
      false,
    )
    expect(results.flatMap(({ messages }: { messages: unknown[] }) => messages)).toEqual([])
  })

  it('the compose file sets only known variables to valid values', () => {
    for (const name of Object.keys(environment)) expect(NAMES).toContain(name)
    const secrets: Record<string, string> = { JWT_SECRET: 's'.repeat(64), POSTGRES_PASSWORD: 'password' }
    const filled = Object.entries(environment).map(([name, value]) => {
      return [name, value.replace(/\$\{(\w+):\?[^}]*\}/g, (_all, secret: string) => secrets[secret] ?? '')]
    })
    const config = loadConfig({ ...Object.fromEntries(filled), ...imageEnvironment() })
    expect(config.NODE_ENV).toBe('production')
    expect(config.HOST).toBe('0.0.0.0')
    expect(config.DATABASE_URL).toBe('postgres://gateway:password@postgres:5432/gateway')
  })

  it('the compose file contains no secret and reads them from an uncommitted file', () => {
    const named = new Set([...text.matchAll(/\$\{(\w+)/g)].map(([, name]) => name))
    const listed = [...read('.env.example').matchAll(/^(\w+)=(.*)$/gm)]
    expect(new Set(listed.map(([, name]) => name))).toEqual(named)
    expect(listed.every(([, , value]) => value === '')).toBe(true)
  })

  it('the compose file has the services, and publishes the proxy’s ports on this machine alone', () => {
    expect(Object.keys(services)).toEqual(['gateway', 'grafana', 'postgres', 'prometheus', 'proxy', 'redis'])
    const listens = [...read('nginx.conf').matchAll(/^ {2}listen (\d+);$/gm)].map(([, port]) => port)
    expect(services.proxy?.ports?.toSorted()).toEqual(listens.map((port) => `127.0.0.1:${port}:${port}`).toSorted())
    for (const { ports = [] } of Object.values(services))
      for (const port of ports) expect(port).toMatch(/^127\.0\.0\.1:/)
  })

  it('the compose file mounts only files that exist', () => {
    const files = [...text.matchAll(/^ {6}- (\.[^:]*):/gm)].map(([, file = '']) => file)
    expect(files.length).toBeGreaterThan(5)
    expect(files.filter((file) => !existsSync(join(DEPLOY, file)))).toEqual([])
  })
})

/** What the image sets. */
function imageEnvironment(): Record<string, string> {
  const lines = /^ENV ([\s\S]*?[^\\])$/m.exec(read('Dockerfile'))?.[1] ?? ''
  return Object.fromEntries([...lines.matchAll(/(\w+)=(\S+)/g)].map(([, name, value]) => [name, value]))
}
