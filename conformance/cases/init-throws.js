//! says: from init
// An exception while loading.
throw new Error('from init');

export default function () {}
