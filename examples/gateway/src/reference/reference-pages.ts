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

/** The page's files, and their locations. */
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

/** Browsers revalidate their copy each time, so that a new version is visible immediately. */
const CACHE_CONTROL = 'no-cache'

/**
 * Serves the interactive reference of the three services at `/reference/`.
 *
 * @param addresses returns where clients find the services; called for each request
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

/** Returns a file, read and compressed at its first use. */
function fileOf(name: string, root: string): Promise<PackedFile> {
  const known = read.get(name)
  if (known !== undefined) return known
  const file = readFile(join(root, name)).then((bytes) => packedFile(name, bytes))
  read.set(name, file)
  file.catch(() => read.delete(name))
  return file
}

/** The page loads only its own files, and calls only the three services. No page may frame it. */
function pagePolicy(addresses: () => Addresses): RequestHandler {
  return helmet.contentSecurityPolicy({
    useDefaults: false,
    directives: {
      defaultSrc: ["'none'"],
      scriptSrc: ["'self'"],
      // Swagger UI sets style properties in scripts, which the policy allows.
      styleSrc: ["'self'"],
      // Swagger UI's icons.
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
