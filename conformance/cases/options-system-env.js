//! env: FROM_SHELL=yes
//! args: -e FROM_FLAG=yes
// The shell's variables reach the script; the flag wins.
export default function () {
  console.log(__ENV.FROM_SHELL, __ENV.FROM_FLAG);
}
