import type { ComponentChildren, JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { Mode } from '../../api/documents.ts'
import { type Cell, cellsOf, pathOf } from '../../form/axes.ts'
import { EditorValue } from '../../form/editor-field.tsx'
import type { Editor } from '../../form/use-editor.ts'
import { usePolicy } from '../../session.ts'
import { Scroll } from '../../ui/scroll.tsx'
import { useNarrow } from '../../ui/use-narrow.ts'
import { useNames } from '../../words/names.ts'
import { useFormats, useWords } from '../../words/words.ts'
import { effectiveLimit, limitText, MODES } from './limits.ts'
import { isShadowed } from './rule-fields.ts'
import { settingName } from './setting-name.ts'

export interface PartProps {
  readonly editor: Editor
  readonly factor: number
}

/** The base and custom values next to the limits that each mode makes of them. */
export function LimitsTable({ editor, factor }: PartProps): JSX.Element {
  const words = useWords()
  const { settings } = words
  const { layers, categories } = usePolicy()
  const { draft } = editor
  const isNarrow = useNarrow()
  const [isOpen, setOpen] = useState(false)
  const isUsed = draft.mode === 'custom' || Object.keys(draft).some((path) => path.startsWith('custom.') && draft[path])
  const hasCustom = isOpen || isUsed
  // A phone shows only the chosen mode's limit, next to the value.
  const modes = MODES.filter((mode) => (isNarrow ? mode === draft.mode : mode !== 'custom' || hasCustom))
  const tables = hasCustom ? (['base', 'custom'] as const) : (['base'] as const)
  return (
    <section aria-labelledby="limits">
      <h2 id="limits">{settings.limits}</h2>
      <p class="quiet">{settings.limitsAbout}</p>
      <Scroll label={settings.limits}>
        <table class="limits">
          <thead>
            <tr>
              <th rowSpan={2} scope="col" class="stick">
                {settings.window}
              </th>
              {tables.map((table) => (
                <th key={table} rowSpan={2} scope="col">
                  {settings[table]}
                </th>
              ))}
              <th colSpan={modes.length} scope="colgroup" class="over">
                {settings.effective}
              </th>
            </tr>
            <tr>
              {modes.map((mode) => (
                <th key={mode} scope="col" class={draft.mode === mode ? 'number chosen' : 'number'}>
                  {words.modes[mode]}
                </th>
              ))}
            </tr>
          </thead>
          {layers.flatMap(({ name: layer }) =>
            categories.map((category) => (
              <Group key={`${layer}.${category}`} {...{ editor, factor, layer, category, modes, tables }} />
            )),
          )}
        </table>
      </Scroll>
      <CustomButtons editor={editor} isUsed={isUsed}>
        {!hasCustom && (
          <button type="button" class="plain" onClick={() => setOpen(true)}>
            {settings.showCustom}
          </button>
        )}
      </CustomButtons>
    </section>
  )
}

interface ColumnProps extends PartProps {
  readonly modes: readonly Mode[]
  readonly tables: readonly ('base' | 'custom')[]
}

function Group({ layer, category, ...props }: ColumnProps & { layer: string; category: string }): JSX.Element {
  const names = useNames()
  const policy = usePolicy()
  const cells = cellsOf(policy).filter((cell) => cell.layer === layer && cell.category === category)
  return (
    <tbody>
      <tr class="group">
        <th scope="rowgroup" colSpan={1 + props.tables.length + props.modes.length}>
          <span class="stick">
            {names.layer(layer)} · {names.category(category)}
          </span>
        </th>
      </tr>
      {cells.map((cell) => (
        <Row key={cell.window} {...props} cell={cell} />
      ))}
    </tbody>
  )
}

function Row({ editor, factor, cell, modes, tables }: ColumnProps & { cell: Cell }): JSX.Element {
  const words = useWords()
  const names = useNames()
  const { draft } = editor
  return (
    <tr>
      <th scope="row" class="stick">
        {names.window(cell.window)}
        {isShadowed(draft, cell) && <span class="tag not-enforced">{words.settings.notEnforced}</span>}
      </th>
      {tables.map((table) => (
        <td key={table}>
          <EditorValue
            editor={editor}
            path={pathOf(table, cell)}
            label={settingName(words, names, pathOf(table, cell))}
            placeholder={table === 'custom' ? words.none : undefined}
          />
        </td>
      ))}
      {modes.map((mode) => (
        <td key={mode} class={draft.mode === mode ? 'number chosen' : 'number'}>
          <LimitOf editor={editor} factor={factor} cell={cell} mode={mode} />
        </td>
      ))}
    </tr>
  )
}

function LimitOf({ editor, factor, cell, mode }: PartProps & { cell: Cell; mode: Mode }): JSX.Element {
  const words = useWords()
  const formats = useFormats()
  const limit = effectiveLimit(editor.draft, cell, mode, factor)
  if (limit.kind === 'off') return <span class="quiet">{words.settings.off}</span>
  return (
    <>
      {limitText(limit, formats)}
      {limit.kind === 'range' && <span class="quiet small now">{words.settings.now(formats.number(limit.now))}</span>}
    </>
  )
}

interface ButtonsProps {
  readonly editor: Editor
  readonly isUsed: boolean
  readonly children: ComponentChildren
}

function CustomButtons({ editor, isUsed, children }: ButtonsProps): JSX.Element {
  const words = useWords()
  const policy = usePolicy()
  const fill = (textOf: (cell: Cell) => string): void =>
    editor.setAll(Object.fromEntries(cellsOf(policy).map((cell) => [pathOf('custom', cell), textOf(cell)])))
  return (
    <p class="buttons">
      <button type="button" onClick={() => fill((cell) => editor.draft[pathOf('base', cell)] ?? '')}>
        {words.settings.copyBase}
      </button>
      {isUsed && (
        <button type="button" onClick={() => fill(() => '')}>
          {words.settings.clearCustom}
        </button>
      )}
      {children}
    </p>
  )
}
