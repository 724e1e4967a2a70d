// Starting up and ending, and nothing between.

export default function () {}
