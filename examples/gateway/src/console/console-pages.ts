import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type RequestHandler, Router } from 'express'
import helmet from 'helmet'
import { type PackedFile, packedFile, sendPacked } from '../pages/pages.ts'
import { buildConsole } from './build-console.ts'

/** The console's page and its files, by name. */
interface ConsoleFiles {
  readonly page: PackedFile
  readonly assets: ReadonlyMap<string, PackedFile>
}

let read: Promise<ConsoleFiles> | undefined

/**
 * Returns the console's files. Builds them if necessary, and reads them once per process.
 *
 * @param report called when a build starts and ends
 */
export function consoleFiles(report?: (line: string) => void): Promise<ConsoleFiles> {
  read ??= readFiles(report)
  return read
}

async function readFiles(report?: (line: string) => void): Promise<ConsoleFiles> {
  const folder = await buildConsole(report)
  const names = await readdir(join(folder, 'assets'))
  const assets = await Promise.all(
    names.map(async (name) => [name, await packedFile(name, await readFile(join(folder, 'assets', name)))] as const),
  )
  const page = await packedFile('index.html', await readFile(join(folder, 'index.html')))
  return { page, assets: new Map(assets) }
}

/** Browsers revalidate the page each time. The names of its files change with their content. */
const PAGE_CACHE = 'no-cache'
const ASSETS_CACHE = 'public, max-age=31536000, immutable'

/**
 * The console loads only its own files, and calls only its gateway. No page may frame it. Scripts set style properties
 * on elements, which the policy allows.
 */
const policy: RequestHandler = helmet.contentSecurityPolicy({
  useDefaults: false,
  directives: {
    defaultSrc: ["'none'"],
    scriptSrc: ["'self'"],
    styleSrc: ["'self'"],
    imgSrc: ["'self'"],
    connectSrc: ["'self'"],
    baseUri: ["'none'"],
    formAction: ["'none'"],
    frameAncestors: ["'none'"],
  },
})

/** Serves the administrators' console at `/admin/`. It is public because it contains no data; data needs a token. */
export function consolePages(files: () => Promise<ConsoleFiles> = consoleFiles): RequestHandler {
  const router = Router({ caseSensitive: true, strict: true })
  router.get('/admin', (_req, res) => res.redirect('admin/'))
  router.get('/admin/', policy, async (req, res) => {
    const { page } = await files()
    sendPacked(req, res.set('Cache-Control', PAGE_CACHE), page)
  })
  router.get('/admin/assets/:name', async (req, res, next) => {
    const { name } = req.params
    const asset = (await files()).assets.get(name)
    if (asset === undefined) next()
    else sendPacked(req, res.set('Cache-Control', ASSETS_CACHE), asset)
  })
  return router
}
