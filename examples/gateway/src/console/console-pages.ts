import { type RequestHandler, Router } from 'express'
import helmet from 'helmet'
import { sendPacked } from '../pages/packed-file.ts'
import { type ConsoleFiles, consoleFiles } from './console-files.ts'

/** Browsers revalidate the page each time; the names of its files change with their content. */
const PAGE_CACHE = 'no-cache'
const ASSETS_CACHE = 'public, max-age=31536000, immutable'

/**
 * The console runs and shows its own files and calls the gateway that it came from; it reaches no other server, and
 * nothing frames it. Styles are set on elements by their properties, which needs no permission.
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

/** The administrators' console at `/admin/`. It is open to everybody, as nothing is in it: data needs a token. */
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
