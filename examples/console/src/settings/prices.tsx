import type { JSX } from 'preact'
import { ValueInput } from '../ui/field.tsx'
import type { Editor } from '../ui/use-editor.ts'
import { useFormats, useWords } from '../words/words.ts'
import { CATEGORIES, type Category } from './axes.ts'
import { OPERATION_NAMES, OPERATIONS, type Operation } from './operations.ts'

/** What operations cost. */
export function Prices({ editor }: { editor: Editor }): JSX.Element {
  const words = useWords()
  return (
    <section aria-labelledby="prices">
      <h2 id="prices">{words.settings.prices}</h2>
      <p class="quiet">{words.settings.pricesAbout}</p>
      <div class="columns">
        {CATEGORIES.map((category) => (
          <PriceTable key={category} editor={editor} category={category} />
        ))}
      </div>
    </section>
  )
}

function PriceTable({ editor, category }: { editor: Editor; category: Category }): JSX.Element {
  const words = useWords()
  return (
    <table class="prices">
      <caption>{words.categories[category]}</caption>
      <thead>
        <tr>
          <th scope="col">{words.settings.operation}</th>
          <th scope="col" class="number">
            {words.settings.defaultPrice}
          </th>
          <th scope="col">{words.settings.price}</th>
        </tr>
      </thead>
      <tbody>
        {OPERATION_NAMES.filter((name) => OPERATIONS[name].category === category).map((name) => (
          <PriceRow key={name} editor={editor} name={name} />
        ))}
      </tbody>
    </table>
  )
}

function PriceRow({ editor, name }: { editor: Editor; name: Operation }): JSX.Element {
  const words = useWords()
  const { number } = useFormats()
  const path = `prices.${name}`
  const fault = editor.faults[path]
  return (
    <tr>
      <th scope="row">
        <code>{name}</code>
      </th>
      <td class="number">{number(OPERATIONS[name].price)}</td>
      <td>
        <ValueInput
          label={words.settings.priceOf(name)}
          value={editor.draft[path] ?? ''}
          fault={fault === undefined ? undefined : words.settings.faults[fault]}
          isChanged={editor.changed.includes(path)}
          placeholder={number(OPERATIONS[name].price)}
          onInput={(text) => editor.set(path, text)}
        />
      </td>
    </tr>
  )
}
