// @ts-check
// The page's whole program. It is served as it is; Swagger UI does the rest.

/** @type {(options: object) => unknown} */
const swaggerUi = Reflect.get(globalThis, 'SwaggerUIBundle')
const domNode = /** @type {HTMLElement} */ (document.querySelector('#service'))
swaggerUi({
  domNode,
  url: domNode.dataset.document,
  // The address keeps nothing, and going back leaves the page.
  deepLinking: false,
  docExpansion: 'list',
  defaultModelsExpandDepth: 0,
  displayRequestDuration: true,
  filter: true,
  persistAuthorization: false,
  queryConfigEnabled: false,
  // A sample of each request, for a command line, before it is sent.
  requestSnippetsEnabled: true,
  tryItOutEnabled: true,
  validatorUrl: null,
})

const dark = matchMedia('(prefers-color-scheme: dark)')
const follow = () => document.documentElement.classList.toggle('dark-mode', dark.matches)
dark.addEventListener('change', follow)
follow()

// The services answer pages of one origin only: a page that came from another one says where to go.
const hint = /** @type {HTMLElement} */ (document.querySelector('#home'))
hint.hidden = /** @type {HTMLAnchorElement} */ (hint.querySelector('a')).origin === location.origin

// A browser may keep a page that is left, to show it again as it was.
addEventListener('pagehide', () => domNode.remove())
addEventListener('pageshow', ({ persisted }) => {
  if (persisted) location.reload()
})
