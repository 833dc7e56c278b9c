import type { ComponentChildren, JSX } from 'preact'
import { useNarrow } from './hooks.ts'

interface ScrollProps {
  readonly label: string
  /** `tall`: lower than the screen; it keeps its head in view. `small`: a few lines. */
  readonly size?: 'tall' | 'small' | undefined
  readonly children: ComponentChildren
}

/** Content that may be larger than its place. Without a pointer, use the arrow keys. */
export function Scroll({ label, size, children }: ScrollProps): JSX.Element {
  return (
    // A group and no region: most of them have the name of the region that they are in.
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for input.
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling part has to be reachable by keyboard.
    <div role="group" class={`scroll ${size ?? ''}`} aria-label={label} tabIndex={0}>
      {children}
    </div>
  )
}

export interface Column<T> {
  readonly name: string
  readonly isNumber?: boolean
  cell(item: T): ComponentChildren
}

interface TableProps<T> {
  readonly label: string
  /** The first one names the row. */
  readonly columns: readonly Column<T>[]
  readonly items: readonly T[]
  keyOf(item: T): string
  /** Shown without items. */
  readonly empty: string
  readonly isTall?: boolean
}

/** The most columns that fit a phone. */
const FEW = 2

/** A table; on a phone, a list with a card for each item. */
export function Table<T>(props: TableProps<T>): JSX.Element {
  const isNarrow = useNarrow()
  const { items, empty, columns } = props
  if (items.length === 0) return <p class="empty">{empty}</p>
  return isNarrow && columns.length > FEW ? <Cards {...props} /> : <Rows {...props} />
}

function Rows<T>({ label, columns, items, keyOf, isTall = false }: TableProps<T>): JSX.Element {
  const classOf = ({ isNumber = false }: Column<T>): string => (isNumber ? 'number' : '')
  const [first, ...rest] = columns
  const table = (
    <table class="full" aria-label={label}>
      <thead>
        <tr>
          {columns.map((column) => (
            <th key={column.name} scope="col" class={classOf(column)}>
              {column.name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {items.map((item) => (
          <tr key={keyOf(item)}>
            <th scope="row">{first?.cell(item)}</th>
            {rest.map((column) => (
              <td key={column.name} class={classOf(column)}>
                {column.cell(item)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  )
  if (columns.length <= FEW) return table
  return (
    <Scroll label={label} size={isTall ? 'tall' : undefined}>
      {table}
    </Scroll>
  )
}

function Cards<T>({ label, columns, items, keyOf }: TableProps<T>): JSX.Element {
  const [first, ...rest] = columns
  return (
    <ul class="entries" aria-label={label}>
      {items.map((item) => (
        <li key={keyOf(item)}>
          <div class="entry-title">{first?.cell(item)}</div>
          <dl class="facts">
            {rest.map(({ name, cell }) => (
              <div key={name}>
                <dt>{name}</dt>
                <dd>{cell(item)}</dd>
              </div>
            ))}
          </dl>
        </li>
      ))}
    </ul>
  )
}
