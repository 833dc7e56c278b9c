import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { type RequestHandler, Router } from 'express'
import helmet from 'helmet'
import type { Addresses } from '../addresses.ts'
import { languageOf } from '../pages/language.ts'
import { type PackedFile, packedFile, sendPacked } from '../pages/packed-file.ts'
import { pageHtml } from './page-html.ts'

const require = createRequire(import.meta.url)
const OWN_FOLDER = join(import.meta.dirname, 'page')
const SWAGGER_UI_FOLDER = dirname(require.resolve('swagger-ui-dist/package.json'))

/** Every file of the page, and where it is. */
const FILES: readonly (readonly [string, string])[] = [
  ['reference.js', OWN_FOLDER],
  ['mend.js', OWN_FOLDER],
  ['parts.js', OWN_FOLDER],
  ['quota-left.js', OWN_FOLDER],
  ['words.js', OWN_FOLDER],
  ['texts-zh.js', OWN_FOLDER],
  ['translate.js', OWN_FOLDER],
  ['documents-zh.js', OWN_FOLDER],
  ['errors-zh.js', OWN_FOLDER],
  ['reference.css', OWN_FOLDER],
  ['swagger-ui-bundle.js', SWAGGER_UI_FOLDER],
  ['swagger-ui.css', SWAGGER_UI_FOLDER],
]

/** Browsers revalidate their copy each time, so that a new version is visible at once. */
const CACHE_CONTROL = 'no-cache'

/**
 * The interactive reference of the three services, at `/reference/`.
 *
 * @param addresses where clients find the services; called each time
 */
export function referencePages(addresses: () => Addresses): RequestHandler {
  const router = Router({ caseSensitive: true, strict: true })
  router.get('/reference', (_req, res) => res.redirect('reference/'))
  router.get('/reference/', pagePolicy(addresses), (req, res) => {
    res.vary('Accept-Language').set('Cache-Control', CACHE_CONTROL)
    res.type('html').send(pageHtml(addresses(), languageOf(req)))
  })
  for (const [name, root] of FILES) {
    router.get(`/reference/${name}`, async (req, res) => {
      const file = await fileOf(name, root)
      sendPacked(req, res.set('Cache-Control', CACHE_CONTROL), file)
    })
  }
  return router
}

const read = new Map<string, Promise<PackedFile>>()

/** Read and compressed at its first use in this process. */
function fileOf(name: string, root: string): Promise<PackedFile> {
  const known = read.get(name)
  if (known !== undefined) return known
  const file = readFile(join(root, name)).then((bytes) => packedFile(name, bytes))
  read.set(name, file)
  file.catch(() => read.delete(name))
  return file
}

/** The page runs and shows its own files and calls the three services, no other server; no page may frame it. */
function pagePolicy(addresses: () => Addresses): RequestHandler {
  return helmet.contentSecurityPolicy({
    useDefaults: false,
    directives: {
      defaultSrc: ["'none'"],
      scriptSrc: ["'self'"],
      // Swagger UI styles elements by their properties, which needs no permission.
      styleSrc: ["'self'"],
      // Swagger UI's icons; pictures that were answered.
      imgSrc: ["'self'", 'data:'],
      connectSrc: ["'self'", () => originsOf(addresses()).join(' ')],
      baseUri: ["'none'"],
      formAction: ["'none'"],
      frameAncestors: ["'none'"],
    },
  })
}

function originsOf(addresses: Addresses): string[] {
  return [...new Set(Object.values(addresses).map((address) => new URL(address).origin))]
}
