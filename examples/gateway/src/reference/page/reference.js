// @ts-check
// The page's whole program. It is served as it is; Swagger UI does the rest.

/**
 * The little that is used of Swagger UI.
 *
 * @typedef {{ authorized(): { keySeq(): Iterable<string> } }} AuthSelectors
 * @typedef {{ authActions: { logout(names: string[]): void }, authSelectors: AuthSelectors }} Ui
 * @typedef {{ createElement(type: unknown, props: object): unknown }} React
 * @typedef {(props: Record<string, unknown>) => unknown} Component
 */

/** @type {(options: object) => Ui} */
const swaggerUi = Reflect.get(globalThis, 'SwaggerUIBundle')
const tabs = /** @type {HTMLElement[]} */ ([...document.querySelectorAll('[role=tab]')])
const panel = /** @type {HTMLElement} */ (document.querySelector('[role=tabpanel]'))

/** Shows the service that the address names, the first one if it names none. */
function show() {
  const chosen = tabs.find((tab) => `#${tab.id}` === location.hash) ?? tabs[0]
  if (chosen === undefined) throw new Error('the page has no services')
  chosen.setAttribute('aria-selected', 'true')
  chosen.tabIndex = 0
  panel.setAttribute('aria-labelledby', chosen.id)
  document.title = `${chosen.textContent} - API reference`

  const node = document.createElement('div')
  panel.append(node)
  const ui = swaggerUi({
    domNode: node,
    url: chosen.dataset.document,
    deepLinking: false,
    persistAuthorization: false,
    queryConfigEnabled: false,
    validatorUrl: null,
    tryItOutEnabled: true,
    displayRequestDuration: true,
    defaultModelsExpandDepth: 0,
    plugins: [{ wrapComponents: { responseBody: withPictures } }],
  })
  return { ui, node }
}

/** Takes away what was typed and what was answered. */
function clear() {
  const names = [...shown.ui.authSelectors.authorized().keySeq()]
  if (names.length > 0) shown.ui.authActions.logout(names)
  shown.node.remove()
}

/**
 * Another service gets another document. Within one, a new Swagger UI would do for the eye, but what all of them share
 * remembers what the last one was told, credentials too.
 */
function startAnew() {
  clear()
  location.reload()
}

/**
 * Shows pictures in SVG, which Swagger UI takes for text. As images they run no scripts and load nothing.
 *
 * @param {Component} ResponseBody
 * @param {{ React: React }} system
 * @returns {Component}
 */
function withPictures(ResponseBody, { React }) {
  return (props) => {
    const { content, contentType } = props
    if (typeof content !== 'string' || !String(contentType).startsWith('image/svg+xml')) {
      return React.createElement(ResponseBody, props)
    }
    const src = `data:image/svg+xml,${encodeURIComponent(content)}`
    return React.createElement('img', { src, alt: 'The picture that was answered', className: 'picture' })
  }
}

/**
 * Arrow keys move between tabs and choose none: choosing forgets what was typed.
 *
 * @param {KeyboardEvent} event
 */
function moveFocus(event) {
  const index = tabs.indexOf(/** @type {HTMLElement} */ (event.target))
  const targets = new Map([
    ['ArrowRight', index + 1],
    ['ArrowLeft', index - 1],
    ['Home', 0],
    ['End', -1],
  ])
  const target = targets.get(event.key)
  if (target === undefined) return
  event.preventDefault()
  tabs.at(target % tabs.length)?.focus()
}

function followColorScheme() {
  const dark = matchMedia('(prefers-color-scheme: dark)')
  const follow = () => document.documentElement.classList.toggle('dark-mode', dark.matches)
  dark.addEventListener('change', follow)
  follow()
}

/** The services answer pages of one origin only: a page that came from another one says where to go. */
function checkOrigin() {
  const hint = /** @type {HTMLElement} */ (document.querySelector('#home'))
  const home = /** @type {HTMLAnchorElement} */ (hint.querySelector('a'))
  hint.hidden = home.origin === location.origin
}

for (const tab of tabs) {
  tab.addEventListener('click', () => {
    location.hash = tab.id
  })
  tab.addEventListener('keydown', moveFocus)
}
followColorScheme()
checkOrigin()
const shown = show()
addEventListener('hashchange', startAnew)
// A browser may keep a page that is left, to show it again as it was.
addEventListener('pagehide', clear)
addEventListener('pageshow', (event) => {
  if (event.persisted) location.reload()
})
