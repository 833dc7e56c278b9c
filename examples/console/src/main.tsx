import './known-language.ts'
import './styles/base.css'
import './styles/parts.css'
import './styles/pages.css'
import './styles/settings.css'
import './styles/users.css'
import './styles/errors.css'
import { render } from 'preact'
import { App } from './app.tsx'

// After Back, the browser may restore this page from its cache, with the token.
addEventListener('pageshow', ({ persisted }) => {
  if (persisted) location.reload()
})

const root = document.getElementById('console')
if (root === null) throw new Error('the page has no place for the console')
render(<App />, root)
