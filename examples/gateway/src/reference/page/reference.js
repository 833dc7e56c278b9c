// @ts-check
// The page's whole program. It is served as it is; Swagger UI does the rest.

import { mend } from './mend.js'
import { partsOf } from './parts.js'
import { quotaLeft } from './quota-left.js'
import { wordsOf } from './words.js'

/**
 * The little that is used of Swagger UI.
 *
 * @typedef {{ keySeq(): Iterable<string>, toJS(): Readonly<Record<string, { readonly value?: unknown }>> }} Authorized
 * @typedef {{ authActions: { logout(names: string[]): void }, authSelectors: { authorized(): Authorized } }} Ui
 * @typedef {(payload: unknown) => unknown} AuthAction
 */

/** @type {(options: object) => Ui} */
const swaggerUi = Reflect.get(globalThis, 'SwaggerUIBundle')
const tabs = /** @type {HTMLElement[]} */ ([...document.querySelectorAll('[role=tab]')])
// Without a name: a checker takes a name for a text that is in no part of the page.
const panel = /** @type {HTMLElement} */ (document.querySelector('[role=tabpanel]'))
const words = wordsOf(document.documentElement.lang)

/** The tab of the service that the address names, of the first one if it names none. */
function chosenTab() {
  const chosen = tabs.find((tab) => `#${tab.id}` === location.hash) ?? tabs[0]
  if (chosen === undefined) throw new Error('the page has no services')
  return chosen
}

function show() {
  const chosen = chosenTab()
  chosen.setAttribute('aria-selected', 'true')
  chosen.tabIndex = 0
  document.title = words.title(chosen.textContent ?? '')
  // Of the three services one charges.
  const left = quotaLeft(chosen.id === 'gateway' ? chosen.dataset.document?.replace(/\/openapi\.json$/, '') : undefined)

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
    filter: true,
    // Its colours are hard to read, and large answers take their time.
    syntaxHighlight: { activated: false },
    // What was done may have cost something.
    responseInterceptor: (/** @type {{ url: string, text: string }} */ response) => {
      if (response.url === chosen.dataset.document) return { ...response, text: words.document(response.text) }
      ask()
      return response
    },
    plugins: [
      partsOf(words, left),
      { statePlugins: { auth: { wrapActions: { authorize: thenAsk, logout: thenAsk } } } },
    ],
  })
  function ask() {
    const [credential] = Object.values(ui?.authSelectors.authorized().toJS() ?? {})
    void left.ask(typeof credential?.value === 'string' ? credential.value : undefined)
  }
  /** @param {AuthAction} act */
  function thenAsk(act) {
    return (/** @type {unknown} */ payload) => {
      const result = act(payload)
      ask()
      return result
    }
  }
  mend(node, words)
  return { ui, node, chosen }
}

/** Takes away what was typed and what was answered. */
function clear() {
  const names = [...shown.ui.authSelectors.authorized().keySeq()]
  if (names.length > 0) shown.ui.authActions.logout(names)
  shown.node.remove()
}

/**
 * Another service gets another document. Within one, a new Swagger UI would do for the eye, but what all of them share
 * keeps the state of the last one, credentials too.
 */
function restart() {
  clear()
  location.reload()
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
    // The open one is not reopened: that would discard typed text.
    if (tab !== shown.chosen) location.hash = tab.id
  })
  tab.addEventListener('keydown', moveFocus)
}
followColorScheme()
checkOrigin()
const shown = show()
addEventListener('hashchange', () => {
  if (chosenTab() !== shown.chosen) restart()
})
/** @type {NodeListOf<HTMLAnchorElement>} */
const languages = document.querySelectorAll('a[hreflang]')
for (const link of languages) {
  link.addEventListener('click', () => {
    /** @type {HTMLAnchorElement} */
    link.hash = location.hash
  })
}
// A browser may keep a page that is left, to show it again as it was.
addEventListener('pagehide', clear)
addEventListener('pageshow', (event) => {
  if (event.persisted) location.reload()
})
