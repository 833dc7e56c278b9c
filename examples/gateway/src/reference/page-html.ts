import type { Addresses } from '../addresses.ts'

/** The services in the order of the tabs, by the names that people know them by. */
const SERVICES: readonly (readonly [keyof Addresses, string])[] = [
  ['gateway', 'Gateway'],
  ['sync', 'Score sync'],
  ['charts', 'Chart preview'],
]

/** The page, without anything that is not in files of its own. Its links are relative: a proxy may put it elsewhere. */
export function pageHtml(addresses: Addresses): string {
  const tabs = SERVICES.map(
    ([id, name]) =>
      `<button type="button" role="tab" id="${id}" aria-controls="operations" aria-selected="false" tabindex="-1" data-document="${escaped(documentOf(addresses[id]))}">${name}</button>`,
  )
  const documents = SERVICES.map(([id, name]) => `<a href="${escaped(documentOf(addresses[id]))}">${name}</a>`)
  const home = escaped(`${addresses.gateway}/reference/`)
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>API reference</title>
    <link rel="icon" href="data:,">
    <link rel="stylesheet" href="swagger-ui.css">
    <link rel="stylesheet" href="reference.css">
    <script src="swagger-ui-bundle.js" defer></script>
    <script src="reference.js" type="module"></script>
  </head>
  <body>
    <header>
      <h1>API reference</h1>
      <div role="tablist" aria-label="Services">
        ${tabs.join('\n        ')}
      </div>
      <p>Each service has credentials of its own. Choosing another service forgets everything that was typed here.</p>
      <p id="home" hidden>The services do not answer this page, as it came from another address. Open <a href="${home}">${home}</a>.</p>
      <noscript><p>This page needs JavaScript. The documents behind it do not: ${documents.join(', ')}.</p></noscript>
    </header>
    <main role="tabpanel" id="operations"></main>
  </body>
</html>
`
}

function documentOf(address: string): string {
  return `${address}/openapi.json`
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;')
}
