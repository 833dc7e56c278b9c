import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { extname, join, normalize, sep } from 'node:path'
import { root } from '../markdown.ts'

export const dist: string = join(root, 'docs/.vitepress/dist')

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.json': 'application/json',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.txt': 'text/plain; charset=utf-8',
  '.md': 'text/markdown; charset=utf-8',
}

/** The path under which the site is published, with slashes at both ends: links start with it. */
export function basePath(): string {
  return /href="([^"]*\/)favicon\.svg"/.exec(readFileSync(join(dist, 'index.html'), 'utf8'))?.[1] ?? '/'
}

/** Paths of the built pages below the base, without `.html`, as links name them. */
export function builtPages(): string[] {
  return readdirSync(dist, { recursive: true, encoding: 'utf8' })
    .map((path) => path.replaceAll('\\', '/'))
    .filter((path) => path.endsWith('.html') && path !== '404.html')
    .map((path) => `/${path.replace(/(?:^|(?<=\/))index\.html$|\.html$/, '')}`)
    .sort()
}

/** The file of a path below the base; `undefined`: there is none. */
export function fileOf(pathname: string): string | undefined {
  const path = normalize(join(dist, decodeURIComponent(pathname)))
  if (path !== dist && !path.startsWith(dist + sep)) return undefined
  const candidates = [path, `${path}.html`, join(path, 'index.html')]
  return candidates.find((each) => existsSync(each) && statSync(each).isFile())
}

export interface SiteServer {
  /** With the base's path, without a slash at its end. */
  readonly url: string
  stop(): Promise<void>
}

/** The built site on a free port, as a host of static files would serve it. */
export async function serveSite(): Promise<SiteServer> {
  const base = basePath()
  const server: Server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://site')
    const file = pathname.startsWith(base) ? fileOf(pathname.slice(base.length - 1)) : undefined
    const found = file ?? join(dist, '404.html')
    response.writeHead(file === undefined ? 404 : 200, {
      'content-type': TYPES[extname(found)] ?? 'application/octet-stream',
    })
    response.end(readFileSync(found))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${base.slice(0, -1)}`,
    stop: () =>
      new Promise((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  }
}
