// @ts-check
// Swagger UI names few of its fields, lets keyboards scroll nothing, and speaks English alone.

/** @typedef {import('./words.js').Words} Words */

/** What may be wider than its place. */
const SCROLLING = 'pre, .parameters-container, .responses-wrapper, .response-col_description, .table-container'
/** The page has a heading of its own above these. */
const LEVELS = /** @type {const} */ ([
  ['.info .title', '2'],
  ['h3.opblock-tag', '2'],
  ['.opblock h4', '3'],
  ['.opblock h5', '4'],
  ['.dialog-ux h3', '2'],
  ['.dialog-ux h4', '3'],
  ['.dialog-ux h6', '4'],
  ['.models h4', '2'],
])
const FIELDS = 'select, textarea, input:not([type=hidden])'

/**
 * Names what has no name, lets what scrolls be reached by keyboard, and says what Swagger UI says in the page's language.
 *
 * @param {HTMLElement} root
 * @param {Words} words
 */
export function mend(root, words) {
  /** @type {Set<Element>} */
  const changed = new Set([root])
  let isAsked = false
  const later = () => {
    if (isAsked) return
    isAsked = true
    requestAnimationFrame(() => {
      isAsked = false
      const within = [...changed]
      changed.clear()
      for (const element of within) mendIn(element, words)
    })
  }
  const observer = new MutationObserver((records) => {
    for (const { target } of records) {
      const element = target instanceof Element ? target : target.parentElement
      if (element !== null) changed.add(element)
    }
    later()
  })
  observer.observe(root, { subtree: true, childList: true, characterData: true })
  addEventListener('resize', () => {
    changed.add(root)
    later()
  })
  later()
}

/**
 * @param {Element} within
 * @param {Words} words
 */
function mendIn(within, words) {
  for (const field of within.querySelectorAll(FIELDS)) name(field, words)
  letScroll(within, words)
  for (const [heading, level] of LEVELS) {
    for (const element of within.querySelectorAll(heading)) element.setAttribute('aria-level', level)
  }
  for (const [part, label] of /** @type {const} */ ([
    ['.information-container', words.information],
    ['.scheme-container', words.access],
  ])) {
    for (const element of within.querySelectorAll(part)) {
      element.setAttribute('role', 'region')
      element.setAttribute('aria-label', label)
    }
  }
  for (const button of within.querySelectorAll('button.close-modal')) button.setAttribute('aria-label', words.close)
  // Screen readers then read out the visible text.
  for (const button of within.querySelectorAll('.auth-btn-wrapper [aria-label]')) button.removeAttribute('aria-label')
  translate(within, words)
}

/**
 * @param {Element} field
 * @param {Words} words
 */
function name(field, words) {
  if (field.hasAttribute('aria-label') || field.hasAttribute('aria-labelledby')) return
  const { labels } = /** @type {HTMLInputElement} */ (field)
  // A label may hold its field and nothing else.
  if ([...(labels ?? [])].some((label) => label.textContent?.replace(field.textContent ?? '', '').trim() !== '')) return
  field.setAttribute('aria-label', labelOf(field, words))
}

/**
 * @param {Element} field
 * @param {Words} words
 */
function labelOf(field, words) {
  const parameter = field.closest('[data-param-name]')?.getAttribute('data-param-name')
  if (parameter !== null && parameter !== undefined) return parameter
  if (field.closest('.auth-container') !== null) return words.credential
  if (field.matches('textarea')) return words.body
  if (field.closest('.servers') !== null) return words.server
  return field.matches('select') ? words.mediaType : words.value
}

/**
 * @param {Element} within
 * @param {Words} words
 */
function letScroll(within, words) {
  const elements = /** @type {HTMLElement[]} */ ([...within.querySelectorAll(SCROLLING)])
  // All are measured before any is changed: a change in between would have the page laid out for each of them.
  const unreached = elements.filter((element) => element.tabIndex < 0 && isScrolling(element))
  for (const element of unreached) {
    element.tabIndex = 0
    element.setAttribute('role', 'group')
    element.setAttribute('aria-label', element.matches('pre') ? words.code : words.table)
  }
}

/** @param {HTMLElement} element */
function isScrolling(element) {
  const isLarger = element.scrollWidth > element.clientWidth + 1 || element.scrollHeight > element.clientHeight + 1
  if (!isLarger) return false
  const { overflowX, overflowY } = getComputedStyle(element)
  return /auto|scroll/.test(overflowX + overflowY)
}

/**
 * @param {Element} within
 * @param {Words} words
 */
function translate(within, words) {
  if (words.texts.size === 0) return
  const nodes = document.createTreeWalker(within, NodeFilter.SHOW_TEXT)
  for (let node = nodes.nextNode(); node !== null; node = nodes.nextNode()) {
    const text = node.nodeValue ?? ''
    const isTag = node.parentElement?.closest('.opblock-tag > a') !== null
    const translated = (isTag ? words.tags : words.texts).get(text.trim())
    // Input and responses are not texts of the page.
    if (translated === undefined || node.parentElement?.closest('pre, code, textarea, option, .markdown') !== null)
      continue
    node.nodeValue = text.replace(text.trim(), translated)
  }
}
