// @ts-check
// What Swagger UI shows otherwise than it would by itself.

/**
 * The little that is used of React and of the immutable collections that Swagger UI hands around.
 *
 * @typedef {{
 *   createElement(type: unknown, props: object | null, ...children: unknown[]): unknown,
 *   Fragment: unknown,
 *   useState<T>(initial: T): [T, (next: T) => void],
 *   useEffect(effect: () => (() => void) | void, keys: unknown[]): void,
 * }} React
 * @typedef {(props: Record<string, any>) => unknown} Component
 * @typedef {{ React: React, layoutSelectors: { currentFilter(): unknown }, layoutActions: { updateFilter(text: string): void } }} System
 * @typedef {import('./words.js').Words} Words
 * @typedef {import('./quota-left.js').QuotaLeft} QuotaLeft
 */

/**
 * @param {Words} words
 * @param {QuotaLeft} left
 */
export function partsOf(words, left) {
  return {
    fn: { opsFilter: matching },
    components: { FilterContainer: filter(words) },
    wrapComponents: {
      response: closedUntilAsked(words),
      execute: withPrice(words, left),
    },
  }
}

/**
 * An operation has a dozen answers, nearly all of them errors that every operation has: the first one is open.
 *
 * @param {Words} words
 * @returns {(Response: Component, system: System) => Component}
 */
function closedUntilAsked(words) {
  return (Response, { React }) => {
    const { createElement: h } = React
    return (props) => {
      const [isOpen, setOpen] = React.useState(Boolean(props.isDefault))
      if (isOpen) return h(Response, props)
      const description = String(props.response?.get?.('description') ?? '').replaceAll('`', '')
      const button = h(
        'button',
        { type: 'button', className: 'reveal', 'aria-expanded': false, onClick: () => setOpen(true) },
        words.showAnswer(props.code),
      )
      return h(
        'tr',
        { className: 'response closed', 'data-code': props.code },
        h('td', { className: 'response-col_status' }, props.code),
        h('td', { className: 'response-col_description' }, h('p', null, description), button),
        h('td', { className: 'response-col_links' }),
      )
    }
  }
}

/**
 * What a request costs, and whether there is enough, before it is sent.
 *
 * @param {Words} words
 * @param {QuotaLeft} left
 * @returns {(Execute: Component, system: System) => Component}
 */
function withPrice(words, left) {
  return (Execute, { React }) => {
    const { createElement: h } = React
    return (props) => {
      const [known, setKnown] = React.useState(left.now())
      React.useEffect(() => left.watch(setKnown), [])
      const prices = /** @type {{ category: string, cost: number }[]} */ (
        props.operation?.get?.('x-quota')?.toJS?.() ?? []
      )
      const [first] = prices
      const remaining = first === undefined ? undefined : known[first.category]
      return h(
        React.Fragment,
        null,
        h(Execute, props),
        h(
          'p',
          { className: 'price', role: 'status' },
          first === undefined
            ? words.free
            : words.price(
                prices.map(({ cost }) => cost),
                first.category,
              ),
          remaining === undefined || first === undefined ? null : ` ${words.left(remaining, first.category)}`,
        ),
      )
    }
  }
}

/**
 * Operations are looked for by whatever is known of them: a part of the path, of the summary, of the method or the tag.
 *
 * @param {any} tags
 * @param {unknown} phrase
 */
function matching(tags, phrase) {
  const wanted = String(phrase).toLowerCase().split(/\s+/).filter(Boolean)
  return tags
    .map((/** @type {any} */ tag, /** @type {string} */ name) =>
      tag.set(
        'operations',
        tag.get('operations').filter((/** @type {any} */ each) => {
          const operation = each.get('operation')
          const text = [
            name,
            each.get('method'),
            each.get('path'),
            operation?.get('operationId'),
            operation?.get('summary'),
          ]
            .join(' ')
            .toLowerCase()
          return wanted.every((part) => text.includes(part))
        }),
      ),
    )
    .filter((/** @type {any} */ tag) => tag.get('operations').size > 0)
}

/**
 * @param {Words} words
 * @returns {Component}
 */
function filter(words) {
  return ({ getSystem }) => {
    const { React, layoutSelectors, layoutActions } = /** @type {System} */ (getSystem())
    const current = layoutSelectors.currentFilter()
    return React.createElement(
      'div',
      { className: 'operations-filter', role: 'search' },
      React.createElement('input', {
        type: 'search',
        'aria-label': words.filter,
        placeholder: words.filter,
        maxLength: 64,
        value: typeof current === 'string' ? current : '',
        onChange: (/** @type {{ target: HTMLInputElement }} */ { target }) => layoutActions.updateFilter(target.value),
      }),
    )
  }
}
