// From the arguments of a call to those of the program. A value stands behind the `=` of its flag, so that no text can be
// a flag, and no shell reads it.

const CONTROL = /[\u0000-\u001f\u007f-\u009f]/

/** The words of a call behind the program; throws in words for whoever called. */
export function argv(tool, known, given, settings) {
  const stray = Object.keys(given).find((name) => !tool.takes.includes(name))
  if (stray !== undefined) throw new Error(`${tool.name} has no argument ${JSON.stringify(stray)}`)
  const words = tool.command.slice(1)
  for (const name of tool.takes) {
    const value = given[name] ?? settings[name]
    if (value !== undefined && value !== null && value !== '') {
      words.push(`${known[name].flag}=${checked(name, known[name], value)}`)
    }
  }
  return [...words, '--json']
}

function checked(name, argument, value) {
  if (argument.type === 'number') {
    if (Number.isInteger(value) && value >= 0) return value
    throw new Error(`${name} takes a whole number`)
  }
  if (typeof value !== 'string') throw new Error(`${name} takes a text`)
  if (CONTROL.test(value)) throw new Error(`${name} has a control character in it`)
  if (argument.enum && !argument.enum.includes(value)) {
    throw new Error(`${name} takes one of ${argument.enum.join(', ')}`)
  }
  return value
}
