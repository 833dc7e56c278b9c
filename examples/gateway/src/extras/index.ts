// One line for each extra: `name` is what EXTRAS calls it. Take a line and its folder away, and the rest works.

export { reset } from './adaptive/extra.ts'
export { alerts } from './alerts/extra.ts'
export { pages } from './front-pages/extra.ts'
export { holds } from './holds/extra.ts'
export { overview } from './overview/extra.ts'
export { usage } from './own-usage/extra.ts'
export { pictures } from './pictures/extra.ts'
export { uploads } from './uploads/extra.ts'
export { why } from './why/extra.ts'
